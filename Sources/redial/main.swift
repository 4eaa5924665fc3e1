import Glibc

// A peer that goes away must be an error of one write, not the end of the process.
signal(SIGPIPE, SIG_IGN)
exit(RedialTool.run(Array(CommandLine.arguments.dropFirst())).rawValue)

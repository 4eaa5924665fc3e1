import Glibc

// A peer that leaves must cause an error of one write, not the end of the process.
signal(SIGPIPE, SIG_IGN)
exit(RedialTool.run(Array(CommandLine.arguments.dropFirst())).rawValue)

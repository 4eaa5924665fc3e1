import Glibc

// A peer that leaves must cause an error of one write, not the end of the process.
signal(SIGPIPE, SIG_IGN)
let arguments = Array(CommandLine.arguments.dropFirst())
SecretArguments.hide()
exit(RedialTool.run(arguments).rawValue)

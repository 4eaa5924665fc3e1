import RedialModel

/// The exit codes, for scripts.
enum ExitCode: Int32 {
  case success = 0
  /// The call that it waited for ended without success, the service is not healthy, or a target is down.
  case unsuccessful = 1
  /// The command line, or a setting, was not valid.
  case usage = 2
  /// The service could not be reached, or started.
  case unreachable = 3
  /// The service refused.
  case refused = 4
  /// The time ran out.
  case timedOut = 5
}

/// Why a command failed.
struct CommandError: Error {
  let code: ExitCode
  let message: String
  /// The service said that it cannot serve now, for example while it starts or stops.
  var isPassing = false
}

extension CommandError {
  init(_ error: StoreError) {
    self.init(code: .unsuccessful, message: error.message)
  }
}

/// The `redial` command: finds the sub-command and runs it.
enum RedialTool {
  static let commands: [Command] = [
    .serve, .dev, .call, .batch, .get, .attempts, .list, .cancel, .retry, .replay, .erase, .status, .statistics,
    .instances,
    .issues, .alerts, .operations, .targets, .policies, .credentials, .webhooks,
    .preview, .events, .keys, .audit, .doctor, .backup, .export, .importing, .salvage, .migrate, .rekey,
    .makeTables,
    .flaky,
    .webhookSecret, .health, .completion, .version,
  ]

  static func run(_ arguments: [String]) -> ExitCode {
    guard let name = arguments.first else {
      Terminal.error(overview)
      return .usage
    }
    if ["--help", "-h", "help"].contains(name) {
      Terminal.write(overview)
      return .success
    }
    if name == "--version" { return run(["version"]) }
    if name == CompletionScript.argument { return CompletedValues.run() }
    guard let command = commands.first(where: { $0.name == name }) else {
      let meant = Suggestion.text(for: name, among: commands.map(\.name))
      Terminal.error("redial: there is no command \"\(PlainText.escaped(name))\"\(meant); `redial --help` lists them\n")
      return .usage
    }
    do throws(CommandError) {
      let parsed = try Arguments(Array(arguments.dropFirst()), of: command)
      if parsed.wantsHelp {
        Terminal.write(command.help(whole: parsed.wantsWholeHelp))
        return .success
      }
      return try command.run(parsed)
    } catch {
      Terminal.error("redial \(name): \(PlainText.escaped(error.message, keepsLines: true))\n")
      return error.code
    }
  }

  private static var overview: String {
    var text =
      "Redial: submit an HTTP call, and it is retried until it succeeds.\n\nUsage: redial COMMAND [OPTIONS]\n\n"
    for command in commands { text += "  \(padded(command.name, 16))\(command.summary)\n" }
    text += "\n`redial COMMAND --help` shows the options of a command.\n\n\(exitCodes)"
    return text
  }

  static let exitCodes = """
    Exit codes: 0 success; 1 the call failed, the service is not healthy, or the output
    could not be written; 2 the command line or a setting is wrong; 3 the service cannot be
    reached or started; 4 the service refused; 5 --timeout ran out; 6 an fsync of the store
    failed: start the service again; 141 the reader of the output is gone.

    """

  static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }
}

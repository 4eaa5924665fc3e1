import RedialModel

extension Command {
  /// `redial status`
  static let status = Command(
    name: "status", summary: "Show what is wrong and what to do, how calls ended, what waits, and the service.",
    options: [
      Option(name: "--json", summary: "Show the overview as JSON.")
    ] + APIClient.options,
    notes: """
      What the API key may not see is left out, and a line says so; all of it takes a key of the namespace default with the
      scopes read and metrics. Exit codes of this command: 0 no target is down, and calls are accepted; 1 a target is down,
      or calls are not accepted; the others as below. A target that is degraded, paused or held open does not change it.
      """
  ) { arguments throws(CommandError) in
    try StatusCommand(arguments).run()
  }
}

/// The overview in a terminal.
struct StatusCommand {
  private let arguments: Arguments
  private let client: APIClient

  init(_ arguments: Arguments) {
    self.arguments = arguments
    client = APIClient(arguments)
  }

  func run() throws(CommandError) -> ExitCode {
    var reader = OverviewReader(client, within: APIClient.timeout)
    let overview = try reader.read()
    if arguments.has("--json") {
      Terminal.write(json: overview.json)
    } else {
      Terminal.write(text(overview).lines.map { $0.shown(Terminal.styled) + "\n" }.joined())
    }
    return overview.isBad ? .unsuccessful : .success
  }

  private func text(_ overview: Overview) -> OverviewText {
    // The commands that it shows must ask the same service. A key is never shown.
    let options = ["--server", "--namespace"].compactMap { name in
      arguments.value(name).map { " \(name) \(ShellWord.plain(PlainText.escaped($0)))" }
    }
    return OverviewText(overview: overview, server: client.base, options: options.joined())
  }
}

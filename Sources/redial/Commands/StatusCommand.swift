import Glibc
import RedialModel
import RedialText

extension Command {
  /// `redial status`
  static let status = Command(
    name: "status", summary: "Show what is wrong and what to do, how calls ended, what waits, and the service.",
    options: [
      Option(name: "--watch", short: "-w", summary: "Follow it until Ctrl-C: redraw it in its place."),
      Option(
        name: "--every", form: "DURATION", summary: "With --watch: how often to ask, 500ms to 1h [2s]."),
      Option(name: "--json", summary: "Show the overview as JSON; with --watch each one as one line."),
    ] + APIClient.options,
    notes: """
      What the API key may not see is left out, and a line says so; all of it takes a key of the namespace default with the
      scopes read and metrics. With --watch and an output that is no terminal, only changes follow the first overview. It waits
      for a service that is away, if it has answered once. Exit codes of this command: 0 no target is down, and calls are accepted; 1 a target is down,
      or calls are not accepted; the others as below. A target that is degraded, paused or held open does not change it.
      """
  ) { arguments throws(CommandError) in
    try StatusCommand(arguments).run()
  }
}

/// The overview in a terminal.
struct StatusCommand {
  /// A service that does not answer for that long is shown as away.
  private static let timeoutWhileWatching = Duration.seconds(10)

  private let arguments: Arguments
  private let client: APIClient

  init(_ arguments: Arguments) {
    self.arguments = arguments
    client = APIClient(arguments)
  }

  func run() throws(CommandError) -> ExitCode {
    let interval = try interval()
    guard !arguments.has("--watch") else {
      let form: StatusWatch.Form =
        arguments.has("--json") ? .json : Terminal.isTerminal(STDOUT_FILENO) ? .screen : .changes
      try StatusWatch(form: form, interval: interval, text: text)
        .run(OverviewReader(client, within: Self.timeoutWhileWatching))
    }
    var reader = OverviewReader(client, within: APIClient.timeout)
    let overview = try reader.read()
    if arguments.has("--json") {
      Terminal.write(json: overview.json)
    } else {
      Terminal.write(text(overview).lines.map { $0.shown(Terminal.styled) + "\n" }.joined())
    }
    return overview.isBad ? .unsuccessful : .success
  }

  /// - Throws: If it is not a duration, out of bounds, or without `--watch`.
  private func interval() throws(CommandError) -> Duration {
    guard let text = arguments.value("--every") else { return StatusWatch.usualInterval }
    guard arguments.has("--watch") else { throw CommandError(code: .usage, message: "--every needs --watch") }
    guard let interval = DurationText.parse(text), StatusWatch.intervals.contains(interval) else {
      throw CommandError(
        code: .usage, message: "--every: \"\(text)\" is not a duration from 500ms to 1h, such as 5s")
    }
    return interval
  }

  @Sendable private func text(_ overview: Overview) -> OverviewText {
    // The commands that it shows must ask the same service. A key is never shown.
    let options = ["--server", "--namespace"].compactMap { name in
      arguments.value(name).map { " \(name) \(ShellWord.plain(PlainText.escaped($0)))" }
    }
    return OverviewText(overview: overview, server: client.base, options: options.joined())
  }
}

import Glibc
import RedialModel
import RedialText

extension Command {
  /// `redial events`
  static let events = Command(
    name: "events", summary: "Show events as they happen.",
    options: [
      Option(name: "--follow", short: "-f", summary: "Reconnect when the connection ends, without missing events."),
      Option(
        name: "--type", form: "TYPE,...", summary: "Only these, such as call.failed,target.opened.", values: .eventType),
      Option(name: "--target", form: "KEY", summary: "Only those of this target.", values: .target),
      Option(name: "--call", form: "ID", summary: "Only those of this call.", values: .call),
      Option(name: "--label", form: "NAME=VALUE", summary: "Only those of calls with this label.", repeats: true),
      Option(
        name: "--kind", form: "KIND", summary: "Only those of calls of this kind: call or webhook [call].",
        values: .callKind),
      Option(name: "--attempts", form: "COUNT", summary: "Only those of calls with at least so many attempts."),
      Option(
        name: "--waiting-on", form: "REASON", summary: "Only those of calls that waited for this, such as breaker.",
        values: .waitReason),
      Option(name: "--after", form: "ID", summary: "Start after the event with this id, if the service still has it."),
      Option(name: "--count", form: "COUNT", summary: "Exit after this many events."),
      Option(name: "--json", summary: "Show each event as one line of JSON."),
    ] + APIClient.options,
    notes: """
      A line "reset" says that events were missed, and why. With --follow the command also survives a restart of the
      service, after it has connected once.
      """
  ) { arguments throws(CommandError) in
    var left = Int.max
    if let text = arguments.value("--count") {
      guard let count = Int(text), count > 0 else {
        throw CommandError(code: .usage, message: "--count must be a whole number from 1")
      }
      left = count
    }
    var query: [String] = []
    let conditions: KeyValuePairs = [
      "--type": "type", "--target": "target", "--call": "call", "--kind": "kind", "--attempts": "attempts",
      "--waiting-on": "waitingOn",
    ]
    for (option, name) in conditions {
      if let value = arguments.value(option) { query.append("\(name)=\(PercentCoding.encode(value))") }
    }
    query += try arguments.labelParameters()
    let path = "/v1/events" + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    return try EventsCommand.follow(
      APIClient(arguments), path, after: arguments.value("--after"), count: left, asJSON: arguments.has("--json"),
      reconnects: arguments.has("--follow"))
  }
}

/// Follows the event stream.
enum EventsCommand {
  /// State that a closure which collects events shares with its creator; only one thread uses it.
  private final class Progress {
    var events = ServerSentEvents()
    var left: Int

    init(left: Int) { self.left = left }
  }

  /// The service sends something every 15 seconds; after three times as long a connection is dead.
  private static let silence = Duration.seconds(45)

  static func follow(
    _ client: APIClient, _ path: String, after: String?, count: Int, asJSON: Bool, reconnects: Bool
  ) throws(CommandError) -> ExitCode {
    let progress = Progress(left: count)
    var last = after
    var hasConnected = false
    while true {
      var headers = [HeaderField("accept", "text/event-stream")]
      if let last { headers.append(HeaderField("last-event-id", last)) }
      progress.events.begin()
      do throws(CommandError) {
        _ = try client.stream(path, headers: headers, silence: silence) { piece in
          // The service sends heartbeats: so the end of a reader is also noticed soon.
          Terminal.endIfNobodyReads()
          for event in progress.events.take(piece) where progress.left > 0 {
            progress.left -= 1
            if asJSON { Terminal.write(json: event.data) } else { Terminal.write(line(event.data) + "\n") }
          }
          return progress.left > 0
        }
        hasConnected = true
      } catch {
        guard reconnects, hasConnected, error.code == .unreachable || error.isPassing else { throw error }
      }
      if progress.left == 0 { return .success }
      guard reconnects else {
        throw CommandError(code: .unreachable, message: "the stream ended; --follow connects again")
      }
      last = progress.events.lastID ?? last
      sleep(1)
    }
  }

  /// One event for people: time, type, subject and result.
  static func line(_ data: [UInt8]) -> String {
    guard let event = try? JSONValue(parsing: data) else {
      return PlainText.escaped(String(decoding: data, as: UTF8.self))
    }
    let type = event["type"].escapedText ?? "?"
    let head = "\(event["timestamp"].escapedText ?? "?")  \(RedialTool.padded(type, 18))"
    let subject = event["data"]
    if type == "reset" { return head + "events were missed: \(subject["reason"].escapedText ?? "?")" }
    guard let id = subject["id"].escapedText else {
      let until = subject["breaker"]["openUntil"].escapedText.map { " until \($0)" } ?? ""
      return head + (subject["key"].escapedText ?? "?") + until
    }
    var line = head + "\(id)  \(subject["method"].escapedText ?? "") \(subject["url"].escapedText ?? "")"
    let attempt = event["attempt"]
    if attempt["number"].integer != nil {
      line += "  " + CallText.line(attempt).dropLast()
    } else if let reason = subject["failureReason"].escapedText {
      line += "  \(reason)"
    }
    return line
  }
}

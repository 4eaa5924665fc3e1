import Glibc

/// Asks again and again about something that the service has accepted, and that goes on without the command. So a
/// service that restarts meanwhile, or a lost answer, does not end the wait.
struct Following {
  /// How long the service may give no answer.
  private static let patience = Duration.seconds(60)
  private static let shortest = Duration.milliseconds(100)
  private static let pauseMicroseconds: UInt32 = 150_000

  private let client: APIClient
  private let path: String
  private let id: String
  private let limit: Duration?
  private let start = ContinuousClock.now
  private var silentSince: ContinuousClock.Instant?

  /// - Parameters:
  ///   - path: The path of its state in the API.
  ///   - id: Its id, for messages.
  ///   - limit: How long to wait for its end; nil for no limit.
  init(_ client: APIClient, _ path: String, id: String, within limit: Duration?) {
    self.client = client
    self.path = path
    self.id = id
    self.limit = limit
  }

  /// Waits for the end.
  ///
  /// - Parameters:
  ///   - hasEnded: Looks at each state, and returns whether it is the last one.
  ///   - summary: What the error says about the state when the time runs out.
  /// - Returns: The last answer.
  /// - Throws: If the time runs out, if the service refuses, or if it gives no answer for too long.
  mutating func end(
    _ hasEnded: (JSONValue) -> Bool, summary: (JSONValue) -> String
  ) throws(CommandError) -> APIClient.Answer {
    var last = JSONValue.null
    while true {
      if let answer = try ask() {
        last = answer.json
        if hasEnded(last) { return answer }
      }
      if let limit, ContinuousClock.now - start >= limit {
        let state = last["id"].text == nil ? "the service gave no answer" : summary(last)
        throw CommandError(code: .timedOut, message: "\(id) has not ended yet: \(state)")
      }
      usleep(Self.pauseMicroseconds)
    }
  }

  /// One answer; nil if the service gives none at the moment.
  private mutating func ask() throws(CommandError) -> APIClient.Answer? {
    let left = limit.map { max(Self.shortest, $0 - (ContinuousClock.now - start)) }
    do throws(CommandError) {
      let answer = try client.request("GET", path, within: left)
      silentSince = nil
      return answer
    } catch {
      let now = ContinuousClock.now
      let isPassing = error.code == .unreachable || error.isPassing
      guard isPassing, now - (silentSince ?? now) < Self.patience else {
        throw CommandError(code: error.code, message: "\(error.message)\n\(id) was accepted, and goes on.")
      }
      if silentSince == nil {
        silentSince = now
        Terminal.error("the service gives no answer; still waiting for \(id)\n")
      }
      return nil
    }
  }
}

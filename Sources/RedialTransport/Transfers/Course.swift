internal import RedialCore

/// How far the current attempt of a handle has come: its requests, its redirects and its time.
struct Course {
  /// Distinguishes the requests of this handle.
  private(set) var generation: UInt64 = 0
  /// How many times the current request was about to be sent.
  private(set) var sends = 0
  /// Whether it used a connection that had served before.
  private(set) var isReused = false
  /// Whether it was to be sent on a connection that it may not use, and was not.
  private(set) var isConnectionAbandoned = false
  /// The number of redirects that were followed.
  private(set) var redirects = 0
  /// Whether a request of the attempt was sent again because its connection was at its end.
  private(set) var hasMoved = false
  /// How much time the current request had when it was prepared.
  private(set) var timeLimit = Duration.zero
  /// The time before the current request, in microseconds.
  private var earlier = 0

  /// Whether a request of this attempt got a response, even if only a redirect.
  var hasBeenAnswered: Bool { redirects > 0 }

  /// Begins another attempt.
  ///
  /// - Parameter spent: How much of its time has passed already.
  mutating func begin(after spent: Duration) {
    (redirects, hasMoved) = (0, false)
    earlier = Int(clamping: spent.wholeMicroseconds)
  }

  /// Begins another request of the attempt.
  mutating func beginRequest(within timeLimit: Duration) {
    generation += 1
    (sends, isReused, isConnectionAbandoned) = (0, false, false)
    self.timeLimit = timeLimit
  }

  /// Notes that the request is about to be sent.
  ///
  /// - Parameter isReused: Whether the connection has served before.
  /// - Returns: Whether it may be: only once.
  mutating func send(isReused: Bool) -> Bool {
    sends += 1
    if sends == 1 { self.isReused = isReused }
    return sends == 1
  }

  /// Notes that the request may not be sent on the connection that was chosen.
  mutating func abandonConnection() { isConnectionAbandoned = true }

  /// Moves the current request to another connection.
  ///
  /// - Returns: Whether it may be: once in an attempt.
  mutating func move() -> Bool {
    defer { hasMoved = true }
    return !hasMoved
  }

  /// Begins the current request again, which was not sent or not processed.
  ///
  /// - Returns: The time for it; nil if there is none.
  mutating func startOver(after elapsed: Int, of timeout: Duration) -> Duration? {
    let left = timeout - .microseconds(earlier + elapsed)
    guard left > .zero else { return nil }
    earlier += elapsed
    return left
  }

  /// Follows a redirect, if there is time for another request.
  ///
  /// - Parameters:
  ///   - elapsed: How long the current request has taken, in microseconds.
  ///   - timeout: The time of the whole attempt.
  /// - Returns: The time for the next request; nil if there is none, and the attempt ends with this one.
  mutating func follow(after elapsed: Int, of timeout: Duration) -> Duration? {
    let left = startOver(after: elapsed, of: timeout)
    if left != nil { redirects += 1 }
    return left
  }

  /// How long the attempt has taken.
  ///
  /// - Parameter elapsed: How long the current request has taken, in microseconds.
  func duration(with elapsed: Int) -> Duration { .microseconds(earlier + elapsed) }
}

internal import Foundation

/// The current time, and how to wait: the library's only sources of time.
public protocol RetryClock: Sendable {
  /// The time on a clock that never jumps; only differences have a meaning.
  var now: Timestamp { get }
  /// The time of day, for dates that a target sends.
  var wallTime: Timestamp { get }
  /// Waits between attempts.
  ///
  /// - Throws: `CancellationError` if the task is cancelled, at once.
  func sleep(for wait: Duration) async throws
  /// Waits beside an attempt, to end it when its time is up.
  ///
  /// - Throws: `CancellationError` if the task is cancelled, at once.
  func timeout(after limit: Duration) async throws
}

/// The machine's clocks.
public struct SystemRetryClock: RetryClock {
  private static let origin = ContinuousClock.now

  /// Creates the clock.
  public init() {}

  /// The time since the first call in the process, on `ContinuousClock`.
  public var now: Timestamp { .epoch + (ContinuousClock.now - Self.origin) }

  /// The time of day.
  public var wallTime: Timestamp { Timestamp(clampingSeconds: Date().timeIntervalSince1970) }

  /// Waits on `ContinuousClock`.
  public func sleep(for wait: Duration) async throws {
    try await Task.sleep(for: wait < Self.longest ? wait : Self.longest, clock: .continuous)
  }

  /// Waits on `ContinuousClock`.
  public func timeout(after limit: Duration) async throws { try await sleep(for: limit) }

  /// A century: longer sleeps are shortened to that.
  static let longest = Duration.seconds(100 * 365 * 86_400)
}

extension Timestamp {
  fileprivate init(clampingSeconds seconds: Double) {
    self = .epoch + Duration(clampingSeconds: seconds)
  }
}

import Dispatch
import Glibc

/// One line with the progress, redrawn repeatedly; nothing if no person would see it.
///
/// On standard error, so that the output itself can go into a file.
struct ProgressLine {
  /// The minimum time between two drawings.
  private static let interval = Duration.milliseconds(100)

  private let isShown = Terminal.isTerminal(STDERR_FILENO)
  private var drawnAt: ContinuousClock.Instant?

  /// Redraws the line, unless it has just been drawn.
  mutating func show(_ text: @autoclosure () -> String) {
    guard isShown else { return }
    let now = ContinuousClock.now
    if let drawnAt, now - drawnAt < Self.interval { return }
    drawnAt = now
    Self.draw(text())
  }

  /// Removes the line before other output.
  mutating func end() {
    if isShown, drawnAt != nil { Self.draw("") }
    drawnAt = nil
  }

  /// Redraws a line while other work runs on this thread.
  static func showing<Result, Failure: Error>(
    _ text: @escaping @Sendable () -> String, while body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard Terminal.isTerminal(STDERR_FILENO) else { return try body() }
    let queue = DispatchQueue(label: "redial.progress")
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.setEventHandler { draw(text()) }
    timer.schedule(deadline: .now(), repeating: .milliseconds(100))
    timer.activate()
    defer {
      timer.cancel()
      // After the current drawing.
      queue.sync { draw("") }
    }
    return try body()
  }

  /// The finished part of a whole, as a bar of 24 characters and in percent.
  static func bar(_ done: Int, of whole: Int) -> String {
    guard whole > 0 else { return "" }
    let share = min(1, Double(done) / Double(whole))
    let full = Int(share * 24)
    return String(repeating: "█", count: full) + String(repeating: "░", count: 24 - full) + " \(Int(share * 100)) %"
  }

  private static func draw(_ text: String) { Terminal.error("\r\u{1B}[K" + text) }
}

import Glibc
import RedialCore
import RedialModel
import RedialText

/// The overview again and again: drawn in its place on a terminal; elsewhere first as a whole, then what changes.
struct StatusWatch {
  enum Form {
    case screen
    case changes
    /// Each overview as one line of JSON.
    case json
  }

  static let intervals = Duration.milliseconds(500)...Duration.seconds(3600)
  static let usualInterval = Duration.seconds(2)

  let form: Form
  let interval: Duration
  /// The text of an overview.
  let text: @Sendable (Overview) -> OverviewText

  /// Follows the service until a signal ends the command.
  ///
  /// - Throws: If the service cannot be reached at first, or refuses later. A service that is away is waited for.
  func run(_ reader: OverviewReader) throws(CommandError) -> Never {
    var reader = reader
    var last = try reader.read()
    var silence: (since: Timestamp, why: String)?
    let screen = form == .screen ? Screen() : nil
    if form == .changes { Terminal.write(lines(last).map { $0.text + "\n" }.joined()) }
    while true {
      switch form {
      case .screen: screen?.show([heading(silence), ""] + lines(last))
      case .json where silence == nil: Terminal.write(json: last.json)
      case .json, .changes: break
      }
      // So the end of a reader is also noticed while nothing changes.
      if form != .screen { Terminal.endIfNobodyReads() }
      usleep(UInt32(min(4e9, interval / Duration.microseconds(1))))
      do throws(CommandError) {
        let overview = try reader.read()
        if let silence { write("the service answers again, after \((WallClock.now - silence.since).roughly)") }
        silence = nil
        if form == .changes {
          for line in OverviewChanges(before: last, now: overview).lines { write(line) }
        }
        last = overview
      } catch {
        guard error.code == .unreachable || error.isPassing else {
          screen?.close()
          throw error
        }
        let why = String(error.message.prefix { $0 != "\n" })
        if silence == nil {
          silence = (WallClock.now, why)
          write("no answer: \(why)")
        }
      }
    }
  }

  private func lines(_ overview: Overview) -> [StyledLine] { text(overview).lines }

  /// The line above an overview on the screen: how old it is.
  private func heading(_ silence: (since: Timestamp, why: String)?) -> StyledLine {
    let now = WallClock.now
    if let silence {
      let age = (now - silence.since).roughly
      return StyledLine(
        "✗ No answer for \(age): \(PlainText.escaped(silence.why)). This is what was known before:", .bad)
    }
    return StyledLine(
      "\(TimestampText.format(now)), every \(DurationText.format(interval)); Ctrl-C ends it", .soft)
  }

  /// Writes what has changed, with its time.
  private func write(_ change: String) {
    guard form == .changes else { return }
    Terminal.write("\(TimestampText.format(WallClock.now))  \(PlainText.escaped(change))\n")
  }
}

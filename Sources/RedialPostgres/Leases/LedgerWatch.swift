internal import RedialCore
internal import RedialStore
internal import Synchronization

/// What an instance knows to be in the ledgers of commits, so that it notices when a server that has taken over has less.
///
/// Of its own ledgers it knows what was reported as made, of those of others what heartbeats have seen. So it needs no session,
/// and also notices what an instance has lost that is gone.
struct LedgerWatch: Sendable {
  private struct Ledger {
    var isOwn: Bool
    /// The first number that was known: of a ledger that the server has not at all, no more is lost than that.
    var first: Int64
    var last: Int64
    /// Up to which number a loss was reported: the last one may have been reported as made after that.
    var reported = Int64.min
    /// How many heartbeats ago its session ended.
    var idle = 0
  }

  /// The maximum number of ledgers without a session.
  static let mostEnded = 64
  /// How old a loss may be that an instance reports which finds it in the store when it starts.
  static let recent = Duration.seconds(3600)

  private var ledgers: [Int64: Ledger] = [:]
  private var hasLooked = false
  /// The server whose loss was reported.
  private var server: Int64?

  /// The last known number in each ledger.
  var known: [Int64: Int64] { ledgers.mapValues(\.last) }

  /// A change of this instance was reported as made.
  mutating func made(_ number: Int64, in id: Int64) {
    var ledger = ledgers[id] ?? Ledger(isOwn: true, first: number, last: number)
    (ledger.isOwn, ledger.last, ledger.idle) = (true, max(ledger.last, number), 0)
    ledgers[id] = ledger
  }

  /// A heartbeat has looked at the ledgers.
  ///
  /// - Parameters:
  ///   - found: The last number in each, of the known ones and of all sessions.
  ///   - known: What was known before the heartbeat was sent. What was made since may be missing in what it found.
  ///   - sessions: Those that stand.
  /// - Returns: The sums of the last numbers of all ledgers that went back; nil if none did.
  mutating func look(
    at found: [Int64: Int64], knowing known: [Int64: Int64], sessions: Set<Int64>
  ) -> (made: Int64, found: Int64)? {
    var lost: (made: Int64, found: Int64)?
    for (id, number) in known {
      guard var ledger = ledgers[id] else { continue }
      let last = found[id] ?? ledger.first - 1
      if last < number, number > ledger.reported {
        lost = ((lost?.made ?? 0) + number, (lost?.found ?? 0) + max(last, ledger.reported))
        ledger.reported = number
      }
      ledger.idle = sessions.contains(id) ? 0 : ledger.idle + 1
      ledgers[id] = ledger
    }
    for (id, number) in found where ledgers[id]?.isOwn != true {
      ledgers[id, default: Ledger(isOwn: false, first: number, last: number)].last = number
      // What another instance adds now is no more than what it says.
      ledgers[id]?.reported = .min
    }
    let ended = ledgers.filter { $0.value.idle > 0 }.sorted { $0.value.idle < $1.value.idle }
    for (id, _) in ended.dropFirst(Self.mostEnded) { ledgers[id] = nil }
    return lost
  }

  /// This instance has noticed and reported a loss itself.
  mutating func reported(on server: Int64) { self.server = server }

  /// Whether this instance has to report a loss that is in the store: another one has noticed it.
  ///
  /// - Parameter loss: The last one; nil if there is none.
  mutating func mustReport(_ loss: LostCommits?, at now: Timestamp) -> Bool {
    defer { hasLooked = true }
    guard let loss, loss.server != server else { return false }
    server = loss.server
    return hasLooked || now - loss.at < Self.recent
  }
}

/// The watch of an instance, for the threads that change something and for the heartbeat.
final class KnownLedgers: Sendable {
  let watch = Mutex(LedgerWatch())

  func made(_ number: Int64, in ledger: Int64) { watch.withLock { $0.made(number, in: ledger) } }
}

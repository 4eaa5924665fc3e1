internal import RedialCore
internal import RedialModel

/// Loading calls from the store: when the earliest call there is due, and how many calls have been requested.
struct Claims: Sendable {
  /// A claim of due calls without an answer yet.
  private struct Open: Sendable {
    var limit: Int
    /// The earliest due time that was written since.
    var earliestSince: Timestamp?
    /// Calls with an ordering key that have ended since. The answer can still contain them as they were before,
    /// because the store itself gives out turns.
    var ended: Set<CallID> = []
    /// New calls that were accepted since, and that another instance may have stored. The answer can contain them, as
    /// the other instance has stored them.
    var given: Set<CallID> = []
  }

  private var open: Open?
  /// Calls that were accepted here, and then found in the store: their inserts will fail.
  private var found: Set<CallID> = []
  /// When the earliest call in the store is due.
  private(set) var nextDue: Timestamp?
  /// The maximum number of calls that the store may still send. Their room in memory is reserved.
  private(set) var expected = 0

  /// Whether due calls have been requested and have not arrived.
  var isOpen: Bool { open != nil }

  /// Takes over what an earlier process left.
  mutating func recover(nextDue: Timestamp?) {
    self.nextDue = nextDue
  }

  /// A call in the store is due at that time. It was there before an open claim.
  mutating func learn(due: Timestamp) {
    nextDue = min(nextDue ?? due, due)
  }

  /// A call is written to the store, due at that time.
  mutating func stored(due: Timestamp) {
    learn(due: due)
    let since = open?.earliestSince ?? due
    open?.earliestSince = min(since, due)
  }

  /// A call with an ordering key has ended.
  mutating func ended(_ id: CallID) {
    open?.ended.insert(id)
  }

  /// A new call was accepted that another instance may have stored.
  mutating func given(_ id: CallID) {
    open?.given.insert(id)
  }

  /// Whether a call was found in the store after it was accepted here; says so once.
  mutating func takeFound(_ id: CallID) -> Bool { found.remove(id) != nil }

  /// Due calls are requested.
  mutating func begin(limit: Int) {
    open = Open(limit: limit)
    expected += limit
  }

  /// Due calls have arrived, and `next` is when the next one is due. Returns those that may be taken in.
  mutating func end(_ claim: Claim) -> [CallRecord] {
    let (ended, given) = (open?.ended ?? [], open?.given ?? [])
    if !given.isEmpty { found.formUnion(claim.calls.lazy.map(\.id).filter(given.contains)) }
    nextDue = [claim.nextDue, close()].compactMap { $0 }.min()
    if ended.isEmpty, found.isEmpty { return claim.calls }
    return claim.calls.filter { !ended.contains($0.id) && !given.contains($0.id) }
  }

  mutating func fail(at now: Timestamp) {
    nextDue = min(nextDue ?? now, close() ?? now)
  }

  private mutating func close() -> Timestamp? {
    expected -= open?.limit ?? 0
    defer { open = nil }
    return open?.earliestSince
  }

  /// So many calls of a target's queue are requested.
  mutating func expect(_ count: Int) {
    expected += count
  }

  /// So many calls have arrived, or are not expected any more.
  mutating func noLongerExpect(_ count: Int) {
    expected -= count
  }
}

internal import Dispatch
internal import RedialModel
internal import RedialStore
internal import Synchronization

/// Looks in the store for the ends of calls that clients of this instance wait for and other instances run.
final class EndWatch: Sendable {
  private struct State: Sendable {
    var watched: Set<CallID> = []
    var isLooking = false
  }

  /// The time between two looks.
  private static let interval = DispatchTimeInterval.milliseconds(100)
  /// Maximum number of calls in one query.
  private static let page = 1000

  private let state = Mutex(State())
  private let ends: EndTable
  private let reader: any CallReader
  private let queue = DispatchQueue(label: "redial.endwatch", qos: .userInitiated)

  init(_ ends: EndTable, _ reader: any CallReader) {
    self.ends = ends
    self.reader = reader
  }

  /// Looks for the ends of calls, as long as somebody waits for them.
  func watch(_ calls: some Sequence<CallID>) {
    let starts = state.withLock { state in
      state.watched.formUnion(calls)
      guard !state.isLooking, !state.watched.isEmpty else { return false }
      state.isLooking = true
      return true
    }
    if starts { lookSoon() }
  }

  private func lookSoon() {
    queue.asyncAfter(deadline: .now() + Self.interval) { [weak self] in self?.look() }
  }

  private func look() {
    let waited = Set(ends.waited)
    var watched = Array(
      state.withLock { state in
        state.watched.formIntersection(waited)
        if state.watched.isEmpty { state.isLooking = false }
        return state.watched
      })
    guard !watched.isEmpty else { return }
    while !watched.isEmpty {
      // If the store cannot be read now, the next look may find them, and every wait has its own end.
      let ended = (try? reader.ended(among: Array(watched.prefix(Self.page)))) ?? []
      ends.ended(ended)
      watched.removeFirst(min(watched.count, Self.page))
    }
    lookSoon()
  }
}

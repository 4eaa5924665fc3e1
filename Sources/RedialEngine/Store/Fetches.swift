internal import RedialModel

/// Requests to the store for calls that commands are about, without an answer yet.
struct Fetches: Sendable {
  /// Answers about one call that the store still has to send.
  private struct Open: Sendable {
    var outstanding = 0
    /// How many of these show the call as it was before it last left memory.
    var stale = 0
  }

  private var open: [CallID: Open] = [:]

  /// A call is requested.
  mutating func begin(_ id: CallID) {
    open[id, default: Open()].outstanding += 1
  }

  /// A request has been answered, or has failed. Returns true if its answer shows the call as it was before it last
  /// left memory.
  mutating func end(_ id: CallID) -> Bool {
    guard var fetch = open[id] else { return false }
    fetch.outstanding -= 1
    let isStale = fetch.stale > 0
    if isStale { fetch.stale -= 1 }
    open[id] = fetch.outstanding > 0 ? fetch : nil
    return isStale
  }

  /// Open requests for a call will show it as it was.
  mutating func outdate(_ id: CallID) {
    if let fetch = open[id] { open[id]?.stale = fetch.outstanding }
  }

  /// All open requests will show calls as they were.
  mutating func outdateAll() {
    for id in open.keys { outdate(id) }
  }
}

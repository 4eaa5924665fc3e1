/// The waits of connections that have one duration for all connections.
enum DeadlineKind: UInt8, CaseIterable {
  case idle, header, body, piece, write, linger
  /// The first byte of a new connection.
  case first
  /// The request of a connection beyond the limit.
  case surplus
  /// The end of a connection beyond the limit that has been refused.
  case surplusLinger
}

/// When each connection's wait ends. All waits of a kind last equally long, so a list per kind, appended at its end, is
/// ordered by deadline: setting, clearing and finding the next are O(1).
struct DeadlineLists {
  private struct Link {
    var previous: Int32 = -1
    var next: Int32 = -1
    var deadline: UInt64 = 0
    var kind: DeadlineKind?
  }

  private var links: [Link] = []
  private var heads: [Int32]
  private var tails: [Int32]
  private let milliseconds: [UInt64]

  /// Lists for waits of these lengths in milliseconds, in the order of the kinds.
  init(milliseconds: [UInt64]) {
    precondition(milliseconds.count == DeadlineKind.allCases.count, "one duration for each kind")
    self.milliseconds = milliseconds
    heads = Array(repeating: -1, count: milliseconds.count)
    tails = heads
  }

  /// The kind of wait of a slot.
  func kind(_ slot: Int) -> DeadlineKind? { slot < links.count ? links[slot].kind : nil }

  /// Starts a wait, in place of the slot's current one.
  mutating func set(_ slot: Int, _ kind: DeadlineKind, now: UInt64) {
    clear(slot)
    while links.count <= slot { links.append(Link()) }
    let list = Int(kind.rawValue)
    let tail = tails[list]
    links[slot] = Link(previous: tail, next: -1, deadline: now &+ milliseconds[list], kind: kind)
    if tail < 0 { heads[list] = Int32(slot) } else { links[Int(tail)].next = Int32(slot) }
    tails[list] = Int32(slot)
  }

  mutating func clear(_ slot: Int) {
    guard slot < links.count, let kind = links[slot].kind else { return }
    let (link, list) = (links[slot], Int(kind.rawValue))
    if link.previous < 0 { heads[list] = link.next } else { links[Int(link.previous)].next = link.next }
    if link.next < 0 { tails[list] = link.previous } else { links[Int(link.next)].previous = link.previous }
    links[slot].kind = nil
  }

  /// The slot of that kind that has waited longest.
  func first(_ kind: DeadlineKind) -> Int? {
    let head = heads[Int(kind.rawValue)]
    return head < 0 ? nil : Int(head)
  }

  /// How long a slot has waited, in milliseconds; nil if it does not wait.
  func waited(_ slot: Int, now: UInt64) -> UInt64? {
    guard slot < links.count, let kind = links[slot].kind else { return nil }
    return now &+ milliseconds[Int(kind.rawValue)] &- links[slot].deadline
  }

  /// A slot whose wait has ended but which is still in its list.
  func expired(now: UInt64) -> (slot: Int, kind: DeadlineKind)? {
    for kind in DeadlineKind.allCases {
      let head = heads[Int(kind.rawValue)]
      if head >= 0, links[Int(head)].deadline <= now { return (Int(head), kind) }
    }
    return nil
  }

  /// The earliest deadline; nil if no slot waits.
  var next: UInt64? {
    var earliest: UInt64?
    for head in heads where head >= 0 { earliest = min(earliest ?? .max, links[Int(head)].deadline) }
    return earliest
  }
}

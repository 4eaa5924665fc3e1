/// The members that an object may have, and which of them have been there.
struct Members {
  private let names: [String]
  /// Bit `i` is set once the member `names[i]` has been there.
  private var seen: UInt64 = 0
  /// Where the next name is looked for first: most clients give members in the order that the documents do.
  private var next = 0

  /// What a name turns out to be.
  enum Sighting {
    case first, again, unknown
  }

  /// An object of at most 64 members that may have these.
  init(_ names: [String]) {
    precondition(names.count <= 64, "one bit for each name")
    self.names = names
  }

  /// Notes that a member is there.
  mutating func see(_ name: String) -> Sighting {
    guard let index = names[next...].firstIndex(of: name) ?? names[..<next].firstIndex(of: name) else {
      return .unknown
    }
    next = index + 1
    let bit: UInt64 = 1 << UInt64(index)
    defer { seen |= bit }
    return seen & bit == 0 ? .first : .again
  }
}

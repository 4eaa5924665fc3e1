internal import RedialJSON

/// The members that an object may have, and which of them have occurred.
struct Members {
  /// A name, and a value that distinguishes it from most others.
  private struct Name {
    let text: String
    let start: UInt64
  }

  private let names: [Name]
  /// Bit `i` is set if null is a value of the member `names[i]`, and does not mean that it is left out.
  private let nulls: UInt64
  /// Bit `i` is set once the member `names[i]` has occurred.
  private var seen: UInt64 = 0
  /// The index at which the search for the next name begins: most clients use the order of the documentation.
  private var next = 0

  /// The result of looking up a name.
  enum Sighting {
    case first, again, unknown
  }

  /// An object of at most 64 members that may have these.
  ///
  /// - Parameters:
  ///   - allowed: For each name whether the object may have it; the others are unknown. Nil for all.
  ///   - withNull: The members of which null is a value.
  init(_ names: [String], among allowed: [Bool]? = nil, withNull: Set<String> = []) {
    precondition(names.count <= 64, "one bit for each name")
    nulls = names.indices.reduce(into: 0) { if withNull.contains(names[$1]) { $0 |= 1 << UInt64($1) } }
    self.names = names.enumerated().map { index, name in
      // No name has this start.
      let start: UInt64 = allowed?[index] == false ? .max : ASCIIText.withBytes(of: name) { Self.start(of: $0) }
      return Name(text: name, start: start)
    }
  }

  /// An object whose members are the cases of an enumeration.
  init<Member: CaseIterable & RawRepresentable<String>>(of _: Member.Type) {
    self.init(Member.allCases.map(\.rawValue))
  }

  /// Records that a member occurs.
  ///
  /// - Parameter json: The reader that found its name.
  /// - Returns: Its index among the allowed members, if it is one.
  mutating func see(_ name: JSONReader.Found, in json: JSONReader) throws(JSONError) -> (Sighting, index: Int) {
    guard let index = try position(of: name, in: json) else { return (.unknown, -1) }
    next = index + 1
    let bit: UInt64 = 1 << UInt64(index)
    defer { seen |= bit }
    return (seen & bit == 0 ? .first : .again, index)
  }

  private func position(of name: JSONReader.Found, in json: JSONReader) throws(JSONError) -> Int? {
    guard name.isPlain else {
      let text = try json.text(of: name)
      return names.firstIndex { $0.text == text && $0.start != .max }
    }
    let wanted = json.raw(name.range)
    let start = Self.start(of: wanted)
    for index in next..<names.count where names[index].start == start {
      if Self.equal(names[index].text, wanted) { return index }
    }
    for index in 0..<next where names[index].start == start {
      if Self.equal(names[index].text, wanted) { return index }
    }
    return nil
  }

  /// The length of a name and the first of its bytes.
  private static func start(of name: UnsafeBufferPointer<UInt8>) -> UInt64 {
    var start = UInt64(truncatingIfNeeded: name.count) << 56
    for place in 0..<min(7, name.count) { start |= UInt64(name[place]) << UInt64(8 * place) }
    return start
  }

  @inline(__always)
  private static func equal(_ name: String, _ wanted: UnsafeBufferPointer<UInt8>) -> Bool {
    guard name.utf8.count == wanted.count else { return false }
    // The beginning has been compared.
    if wanted.count <= 7 { return true }
    return ASCIIText.withBytes(of: name) { name in
      for index in 7..<wanted.count where name[index] != wanted[index] { return false }
      return true
    }
  }

  /// Whether null is a value of the member at an index.
  func hasNull(at index: Int) -> Bool { nulls & 1 << UInt64(index) != 0 }

  /// The name of the member at an index.
  func name(at index: Int) -> String { names[index].text }
}

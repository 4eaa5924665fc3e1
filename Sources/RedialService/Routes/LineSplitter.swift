/// Splits bytes that arrive in pieces into lines of limited length.
///
/// A line ends with a line feed, which the last line may lack. Only the beginning of one line is kept between two
/// pieces. Time is linear in the bytes.
struct LineSplitter {
  /// One line, without its end.
  enum Line {
    /// Its bytes, valid only during the call.
    case whole(UnsafeBufferPointer<UInt8>)
    /// It is longer than the limit; its bytes were dropped.
    case tooLong
  }

  private let longest: Int
  private var beginning: [UInt8] = []
  private var isTooLong = false
  /// How many lines have ended, including blank ones.
  private(set) var count = 0

  /// - Parameter longest: The maximum bytes of a line, without its end.
  init(longest: Int) {
    self.longest = longest
  }

  /// Splits a piece.
  ///
  /// - Parameter found: Called with the number of each line that ends in it, from 1, and the line; blank lines are left
  ///   out. Returns false to pause.
  /// - Returns: How many of the piece's bytes were used; pass the others again.
  mutating func take(_ piece: UnsafeBufferPointer<UInt8>, _ found: (Int, Line) -> Bool) -> Int {
    var rest = piece[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      let goesOn = close(rest[..<end], found)
      rest = rest[(end + 1)...]
      if !goesOn { return piece.count - rest.count }
    }
    keep(rest)
    return piece.count
  }

  /// Takes the rest without a line feed as the last line.
  mutating func finish(_ found: (Int, Line) -> Bool) {
    guard !beginning.isEmpty || isTooLong else { return }
    _ = close(UnsafeBufferPointer(start: nil, count: 0)[...], found)
  }

  private mutating func keep(_ part: Slice<UnsafeBufferPointer<UInt8>>) {
    guard !isTooLong else { return }
    guard beginning.count + part.count <= longest else {
      isTooLong = true
      beginning = []
      return
    }
    beginning += part
  }

  private mutating func close(_ part: Slice<UnsafeBufferPointer<UInt8>>, _ found: (Int, Line) -> Bool) -> Bool {
    count += 1
    defer {
      beginning.removeAll(keepingCapacity: true)
      isTooLong = false
    }
    if beginning.isEmpty, !isTooLong, part.count <= longest {
      // The line is whole within the piece, like nearly all, and is not copied.
      let line = UnsafeBufferPointer(rebasing: part)
      return Self.isBlank(line) || found(count, .whole(line))
    }
    keep(part)
    guard !isTooLong else { return found(count, .tooLong) }
    return beginning.withUnsafeBufferPointer { line in Self.isBlank(line) || found(count, .whole(line)) }
  }

  private static func isBlank(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
    line.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
  }
}

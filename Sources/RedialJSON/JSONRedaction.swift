extension [JSONPointer] {
  /// A JSON text in which each value that these name is replaced by ``JSONRedaction/marker``; everything else stays byte
  /// by byte. Nil for a text that is not one whole JSON value: then nobody can tell where the values are.
  ///
  /// - Complexity: O(*n*) in the length of the text, times the number of pointers.
  public func redacted(_ text: [UInt8]) -> [UInt8]? {
    text.withUnsafeBufferPointer { bytes in
      var redaction = JSONRedaction(self, bytes)
      return try? redaction.run()
    }
  }
}

/// One pass over a text that replaces named values.
public struct JSONRedaction {
  /// What is shown in place of a value.
  public static let marker = "[redacted]"

  private let pointers: [JSONPointer]
  private var reader: JSONReader
  private var result: [UInt8] = []
  /// How many bytes of the text are copied or replaced.
  private var copied = 0

  fileprivate init(_ pointers: [JSONPointer], _ bytes: UnsafeBufferPointer<UInt8>) {
    self.pointers = pointers
    reader = JSONReader(bytes)
    result.reserveCapacity(bytes.count)
  }

  fileprivate mutating func run() throws(JSONError) -> [UInt8] {
    try pass(Array(pointers.indices), depth: 0)
    try reader.finish()
    result += reader.raw(copied..<reader.offset)
    return result
  }

  /// Reads the next value.
  ///
  /// - Parameters:
  ///   - open: The pointers that name it, or something within it.
  ///   - depth: How many of their tokens led here.
  private mutating func pass(_ open: [Int], depth: Int) throws(JSONError) {
    if open.contains(where: { pointers[$0].tokens.count == depth }) { return try replace() }
    guard !open.isEmpty else {
      _ = try reader.skipValue()
      return
    }
    switch try reader.peek() {
    case .object:
      try reader.beginObject()
      while let found = try reader.nextName() {
        let name = try reader.text(of: found)
        try pass(open.filter { pointers[$0].tokens[depth].name == name }, depth: depth + 1)
      }
    case .array:
      try reader.beginArray()
      var index = 0
      while try reader.nextElement() {
        try pass(
          open.filter { pointers[$0].tokens[depth].isEach || pointers[$0].tokens[depth].index == index },
          depth: depth + 1)
        index += 1
      }
    default: _ = try reader.skipValue()
    }
  }

  private mutating func replace() throws(JSONError) {
    let range = try reader.skipValue()
    result += reader.raw(copied..<range.lowerBound)
    result += Array("\"\(Self.marker)\"".utf8)
    copied = range.upperBound
  }
}

extension JSONError {
  /// The error as a clause that begins with the JSON Pointer of the value at its offset, for people who look for it in the
  /// text. A reason that begins with a pointer itself goes on from that value.
  public func clause(in text: UnsafeBufferPointer<UInt8>) -> String {
    var reader = JSONReader(text)
    let place = pointer(in: &reader, depth: 0)
    return place.isEmpty || reason.hasPrefix("/") ? place + reason : "\(place): \(reason)"
  }

  /// Maximum depth of the pointer. A value that is deeper gets the pointer of the value around it.
  private static let mostLevels = 64

  /// The pointer from the next value to the one at the offset; empty if that is the next value.
  private func pointer(in reader: inout JSONReader, depth: Int) -> String {
    do throws(JSONError) {
      guard depth < Self.mostLevels else { return "" }
      let kind = try reader.peek()
      var index = 0
      switch kind {
      case .object:
        try reader.beginObject()
        while let found = try reader.nextName() {
          let name = JSONPointer.escaped(try reader.text(of: found))
          if let rest = pass(&reader, depth) { return "/\(name)\(rest)" }
        }
      case .array:
        try reader.beginArray()
        while try reader.nextElement() {
          if let rest = pass(&reader, depth) { return "/\(index)\(rest)" }
          index += 1
        }
      default: break
      }
    } catch {
      // From here on it is not JSON.
    }
    return ""
  }

  /// Passes the next value; if the offset is in it, or it is not JSON, the pointer from it.
  private func pass(_ reader: inout JSONReader, _ depth: Int) -> String? {
    var inner = reader
    if let range = try? reader.skipValue(), !(range.lowerBound...range.upperBound).contains(offset) { return nil }
    return pointer(in: &inner, depth: depth + 1)
  }
}

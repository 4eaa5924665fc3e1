internal import RedialCore
public import RedialJSON

/// The members of bodies that nobody sees.
struct PointersMember: MemberForm {
  /// The maximum number that a call, a target or a rule may name.
  static let most = 20
  /// The longest one, in bytes.
  static let longest = 255

  func read(
    _ name: StaticString, into value: inout [JSONPointer], from reader: inout DescriptorReader
  ) throws(JSONError) {
    value = try reader.pointers("/\(name)")
  }

  func write(
    _ name: StaticString, _ value: [JSONPointer], hiding redaction: Redaction?, to writer: inout JSONWriter
  ) {
    guard !value.isEmpty else { return }
    writer.key(name)
    value.write(to: &writer)
  }
}

extension DescriptorReader {
  /// Reads an array of JSON Pointers.
  mutating func pointers(_ pointer: String) throws(JSONError) -> [JSONPointer] {
    // An accepted call has those of its target too.
    try names(pointer, most: limits.isAccepted ? Int.max : PointersMember.most) { text in
      text.utf8.count <= PointersMember.longest && JSONPointer(text) != nil
        ? nil : "must be a JSON Pointer such as /card/number, of at most \(PointersMember.longest) bytes"
    }.compactMap { JSONPointer($0) }
  }
}

extension [JSONPointer] {
  /// Writes the pointers as an array.
  func write(to writer: inout JSONWriter) {
    writer.beginArray()
    for pointer in self { writer.string(pointer.text) }
    writer.endArray()
  }

  /// These, and those of others that are not among them.
  func joined(with others: [JSONPointer]) -> [JSONPointer] { self + others.filter { !contains($0) } }

  /// A body as people may see it; nil for one that they may not see, because it is not whole, or not JSON.
  ///
  /// A body that is not JSON may have the same data in another form, so it is withheld as well.
  public func shown(_ body: [UInt8], isWhole: Bool) -> [UInt8]? {
    if isEmpty || body.isEmpty { return body }
    return isWhole ? redacted(body) : nil
  }
}

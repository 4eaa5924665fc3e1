internal import Glibc
internal import RedialModel

/// What a call that is removed leaves behind among the labels, as its stored spec says.
enum RemovedLabels {
  /// Nothing.
  case none
  /// The labels in a spec with these bytes.
  case listed([UInt8])
  /// The spec is gone, or cannot be one.
  case unknown

  private static let beginning: StaticString = "{\"url\":\""
  private static let member: StaticString = "\"labels\":"
  private static let namespaceMember: StaticString = "\"namespace\":"

  /// Looks into a spec as it is stored; none at all is an empty one.
  init(spec: UnsafeBufferPointer<UInt8>) {
    // Every spec begins with its URL and ends with what is captured.
    let (first, last) = (spec.prefix(Self.beginning.utf8CodeUnitCount), spec.suffix(2))
    guard
      first.elementsEqual(
        UnsafeBufferPointer(start: Self.beginning.utf8Start, count: Self.beginning.utf8CodeUnitCount)),
      last.allSatisfy({ $0 == UInt8(ascii: "}") })
    else {
      self = .unknown
      return
    }
    self = Self.end(of: Self.member, in: spec) == nil ? .none : .listed(Array(spec))
  }

  /// The labels of a spec and its namespace, read from the first places that look like them; nil when they are none. Reading
  /// all of it takes ten times as long; what is found has to be there for it to be right.
  static func quickly(_ spec: [UInt8]) -> (labels: [CallSpec.Label], namespace: Namespace)? {
    spec.withUnsafeBufferPointer { bytes in
      guard let start = end(of: member, in: bytes) else { return nil }
      do throws(JSONError) {
        var labels: [CallSpec.Label] = []
        var reader = JSONReader(UnsafeBufferPointer(rebasing: bytes[start...]))
        try reader.beginObject()
        while let name = try reader.nextKey() { labels.append(.init(name: name, value: try reader.string())) }
        guard let start = end(of: namespaceMember, in: bytes) else { return (labels, .default) }
        var name = JSONReader(UnsafeBufferPointer(rebasing: bytes[start...]))
        return Namespace(try name.string()).map { (labels, $0) }
      } catch {
        return nil
      }
    }
  }

  /// Where a member's name and colon first end; nil where they do not occur.
  private static func end(of member: StaticString, in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    guard let start = bytes.baseAddress else { return nil }
    let length = member.utf8CodeUnitCount
    var index = 0
    // By its colon, which is rarer than its other characters.
    while index < bytes.count, let colon = memchr(start + index, Int32(UInt8(ascii: ":")), bytes.count - index) {
      index = UnsafeRawPointer(colon) - UnsafeRawPointer(start) + 1
      if index >= length, memcmp(start + (index - length), member.utf8Start, length) == 0 { return index }
    }
    return nil
  }
}

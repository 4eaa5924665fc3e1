internal import Glibc
internal import RedialJSON
package import RedialModel

/// The labels of a removed call that are still stored, according to its spec.
package enum RemovedLabels {
  /// Nothing.
  case none
  /// The labels in a spec with these bytes.
  case listed([UInt8])
  /// The spec is missing or damaged.
  case unknown

  private static let beginning: StaticString = "{\"url\":\""
  private static let member: StaticString = "\"labels\":"
  private static let namespaceMember: StaticString = "\"namespace\":"

  /// Searches a stored spec; a missing one counts as empty.
  package init(spec: UnsafeBufferPointer<UInt8>) {
    // Every spec begins with its URL and ends with its capture limit.
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

  /// The labels of a spec and its namespace, read from the first matching places; nil if that fails. Parsing the whole
  /// spec takes ten times as long; the result is right only if these labels are in the table.
  package static func quickly(_ spec: [UInt8]) -> (labels: [CallSpec.Label], namespace: Namespace)? {
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

  /// Where a member's name and colon first end; nil if they do not occur.
  fileprivate static func end(of member: StaticString, in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    guard let start = bytes.baseAddress else { return nil }
    let length = member.utf8CodeUnitCount
    var index = 0
    // Searches for its colon, which is rarer than its other characters.
    while index < bytes.count, let colon = memchr(start + index, Int32(UInt8(ascii: ":")), bytes.count - index) {
      index = UnsafeRawPointer(colon) - UnsafeRawPointer(start) + 1
      if index >= length, memcmp(start + (index - length), member.utf8Start, length) == 0 { return index }
    }
    return nil
  }
}

extension CallRemains {
  /// What a stored spec shows of a call that is damaged, in the spec or elsewhere.
  package init(of id: CallID, spec: UnsafeBufferPointer<UInt8>) {
    self.init(id: id, labels: RemovedLabels.quickly(Array(spec))?.labels ?? [])
    // Behind the policy: a header field may have that name, too.
    guard let policy = RemovedLabels.end(of: "\"policy\":", in: spec) else { return }
    let rest = UnsafeBufferPointer(rebasing: spec[policy...])
    guard let start = RemovedLabels.end(of: "\"target\":", in: rest) else { return }
    var reader = JSONReader(UnsafeBufferPointer(rebasing: rest[start...]))
    target = try? reader.string()
  }
}

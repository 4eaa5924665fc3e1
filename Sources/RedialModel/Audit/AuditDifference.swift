internal import RedialJSON

/// What differs between an object before a change and after it.
public enum AuditDifference {
  /// The members that differ, as an object each; empty for none.
  ///
  /// - Parameters:
  ///   - before: A JSON object; nil if there was none, or it is not known.
  ///   - after: A JSON object; nil if there is none any more.
  ///   - kept: The members that are looked at; nil for all.
  public static func between(
    _ before: [UInt8]?, _ after: [UInt8]?, kept: Set<String>? = nil
  ) -> (before: RawJSON, after: RawJSON) {
    let (old, new) = (before.map { members($0, kept) } ?? [], after.map { members($0, kept) } ?? [])
    guard before != nil, after != nil else { return (object(old), object(new)) }
    let (wasOld, isNew) = (Dictionary(old) { $1 }, Dictionary(new) { $1 })
    return (
      object(old.filter { isNew[$0.name] != $0.value }), object(new.filter { wasOld[$0.name] != $0.value })
    )
  }

  /// The text of a member of an object; nil if it has none.
  public static func text(_ name: String, of object: [UInt8]) -> String? {
    guard let value = members(object, [name]).first?.value else { return nil }
    return value.withUnsafeBufferPointer { bytes in
      var reader = JSONReader(bytes)
      return try? reader.string()
    }
  }

  private typealias Member = (name: String, value: [UInt8])

  private static func members(_ object: [UInt8], _ kept: Set<String>?) -> [Member] {
    let found = object.withUnsafeBufferPointer { bytes -> [Member]? in
      var (reader, found) = (JSONReader(bytes), [Member]())
      do throws(JSONError) {
        try reader.beginObject()
        while let name = try reader.nextKey() {
          let value = reader.raw(try reader.skipValue())
          if kept?.contains(name) != false { found.append((name, Array(value))) }
        }
      } catch {
        return nil
      }
      return found
    }
    return found ?? []
  }

  private static func object(_ members: [Member]) -> RawJSON {
    guard !members.isEmpty else { return RawJSON() }
    var writer = JSONWriter(capacity: 256)
    writer.beginObject()
    for member in members {
      writer.key(member.name)
      writer.raw(member.value)
    }
    writer.endObject()
    return RawJSON(writer.bytes)
  }
}

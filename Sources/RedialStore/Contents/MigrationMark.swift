internal import RedialJSON
package import RedialModel

/// How far a migration into a store has come. The store keeps it as a setting until all is there, and no service starts
/// on a store that has one.
package struct MigrationMark: Sendable, Hashable {
  package static let settingName = "migration"

  /// The store that is copied.
  package var source: String
  /// The state of that store when the migration began, see ``StoreSource/state``.
  package var state: String
  /// The section that is being moved; nil if all are there and have to be compared.
  package var section: ContentSection?
  /// The key of the last row of that section which is there; nil if there is none yet.
  package var last: ContentRow?

  /// Creates a mark.
  package init(source: String, state: String, section: ContentSection?, last: ContentRow? = nil) {
    self.source = source
    self.state = state
    self.section = section
    self.last = last
  }

  /// Why a service does not start on a store with a mark.
  ///
  /// - Parameter place: The store.
  package static func refusal(of place: String) -> StoreError {
    StoreError(
      kind: .inUse,
      message: "\(place) is only partly filled: `redial migrate` is working on it, or was interrupted. Run the same "
        + "`redial migrate` again, which goes on where it stopped, or use another store.")
  }

  // MARK: Text

  /// The value of the setting: a JSON object. Texts of the key are in base 64, because they may be anything.
  package var text: String {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("from", source)
    writer.field("state", state)
    if let section { writer.field("section", section.rawValue) }
    if let last {
      writer.key("last")
      writer.beginArray()
      for value in last {
        if let integer = value.integer {
          writer.integer(integer)
        } else {
          writer.string(Base64.encode(value.content ?? []))
        }
      }
      writer.endArray()
    }
    writer.endObject()
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// Reads the value of the setting; nil for anything else.
  package init?(_ text: String) {
    let mark = Array(text.utf8).withUnsafeBufferPointer { bytes in
      var reader = JSONReader(bytes)
      return try? Self.read(&reader)
    }
    guard let mark else { return nil }
    self = mark
  }

  /// Reads the setting of a destination.
  ///
  /// - Parameters:
  ///   - place: The destination.
  ///   - another: What else can be used.
  package init(_ text: String, at place: String, orUse another: String) throws(StoreError) {
    guard let mark = MigrationMark(text) else {
      throw StoreError(
        kind: .corrupt,
        message:
          "\(place) is only partly filled, and how far the migration came cannot be read: maybe a newer version of "
          + "Redial began it. Nothing was changed. Use \(another).")
    }
    self = mark
  }

  private static func read(_ reader: inout JSONReader) throws(JSONError) -> MigrationMark {
    var mark = MigrationMark(source: "", state: "", section: nil)
    try reader.beginObject()
    while let name = try reader.nextKey() {
      switch name {
      case "from": mark.source = try reader.string()
      case "state": mark.state = try reader.string()
      case "section":
        mark.section = ContentSection(rawValue: try reader.string())
        guard mark.section != nil else { throw JSONError(offset: reader.offset, reason: "the section is not known") }
      case "last": mark.last = try key(&reader)
      default: throw JSONError(offset: reader.offset, reason: "\(name) is not known")
      }
    }
    try reader.finish()
    return mark
  }

  private static func key(_ reader: inout JSONReader) throws(JSONError) -> ContentRow {
    var key: ContentRow = []
    try reader.beginArray()
    while try reader.nextElement() {
      guard try reader.peek() == .string else {
        key.append(.integer(try reader.integer()))
        continue
      }
      guard let text = Base64.decode(try reader.string()) else {
        throw JSONError(offset: reader.offset, reason: "a text of the key is not base 64")
      }
      key.append(.text(text))
    }
    return key
  }
}

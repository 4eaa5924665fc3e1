internal import RedialJSON
package import RedialModel

/// That a store is being filled by a migration. The store keeps it as a setting until all is there, and no service starts on a
/// store that has one.
package struct MigrationMark: Sendable, Hashable {
  package static let settingName = "migration"

  /// The store that is copied.
  package var source: String
  /// The state of that store when the migration began, see ``MigrationSource/state``.
  package var state: String

  /// Creates a mark.
  package init(source: String, state: String) {
    self.source = source
    self.state = state
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

  /// The value of the setting: a JSON object.
  package var text: String {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("from", source)
    writer.field("state", state)
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
  /// - Parameter place: The destination.
  package init(_ text: String, at place: String) throws(StoreError) {
    guard let mark = MigrationMark(text) else {
      throw StoreError(
        kind: .corrupt,
        message:
          "\(place) is only partly filled, and by which migration cannot be read: maybe another version of "
          + "Redial began it. Nothing was changed. Use another store.")
    }
    self = mark
  }

  private static func read(_ reader: inout JSONReader) throws(JSONError) -> MigrationMark {
    var (source, state): (String?, String?)
    try reader.beginObject()
    while let name = try reader.nextKey() {
      switch name {
      case "from": source = try reader.string()
      case "state": state = try reader.string()
      default: throw JSONError(offset: reader.offset, reason: "\(name) is not known")
      }
    }
    try reader.finish()
    guard let source, let state else { throw JSONError(offset: reader.offset, reason: "a member is missing") }
    return MigrationMark(source: source, state: state)
  }
}

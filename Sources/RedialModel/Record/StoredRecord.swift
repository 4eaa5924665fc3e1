public import RedialJSON

/// A record whose fields are declared once: what reads, writes or compares them is a visitor over ``fields(_:_:)``.
///
/// A store has it as bytes, which are a JSON object, and knows nothing of its fields. So a new field is one line here, one in
/// `fields`, and the lines that decide by it. A field that is not set takes no space, and a member that is not known is
/// passed over, as an older version does with a newer one's.
public protocol StoredRecord: FieldValue, Sendable {
  /// A record in which nothing is set.
  init()
  /// Whether all is set without which it could not be used; one that was stored without is damaged.
  var isComplete: Bool { get }
  /// Shows each field to a visitor, always in the same order.
  static func fields<Visitor: FieldVisitor & ~Copyable>(
    _ visitor: inout Visitor, _ record: inout Self
  ) throws(Visitor.Failure)
}

/// What is done with each field of a record.
public protocol FieldVisitor: ~Copyable {
  associatedtype Failure: Error
  mutating func visit<Value: FieldValue>(_ name: StaticString, _ value: inout Value) throws(Failure)
  /// The same for a field that had another name before: it is read under both, and written under the new one.
  mutating func visit<Value: FieldValue>(
    _ name: StaticString, formerly earlier: StaticString, _ value: inout Value
  ) throws(Failure)
}

extension FieldVisitor where Self: ~Copyable {
  public mutating func visit<Value: FieldValue>(
    _ name: StaticString, formerly earlier: StaticString, _ value: inout Value
  ) throws(Failure) {
    try visit(name, &value)
  }
}

/// What a field can have as its value.
public protocol FieldValue: Equatable {
  /// The value of a field that is not set.
  static var unset: Self { get }
  /// Writes it for the store, with what nobody else may see.
  func save(to writer: inout JSONWriter)
  static func read(_ reader: inout JSONReader) throws(JSONError) -> Self
}

extension StoredRecord {
  public static var unset: Self { Self() }
  public var isComplete: Bool { true }

  public func save(to writer: inout JSONWriter) {
    var record = self
    writer.beginObject()
    Self.fields(&writer, &record)
    writer.endObject()
  }

  public static func read(_ reader: inout JSONReader) throws(JSONError) -> Self {
    try reader.beginObject()
    var record = Self()
    let first = try reader.nextName()
    var fields = FieldReader(reader: reader, name: first)
    while let name = fields.name {
      // In the order in which they are written, one pass reads all.
      fields.hasRead = false
      try Self.fields(&fields, &record)
      guard !fields.hasRead, fields.name?.range == name.range else { continue }
      _ = try fields.reader.skipValue()
      fields.name = try fields.reader.nextName()
    }
    reader = fields.reader
    guard record.isComplete else { throw JSONError(offset: reader.offset, reason: "a member is missing") }
    return record
  }

  /// Reads ``bytes``, and keeps nothing of them.
  ///
  /// - Throws: Why they cannot be read.
  public static func check(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONError) { _ = try Self(bytes) }

  public var bytes: [UInt8] {
    var writer = JSONWriter()
    save(to: &writer)
    return writer.bytes
  }

  /// Reads ``bytes``; nil if they are damaged.
  public init?(document bytes: [UInt8]) {
    guard let record = try? bytes.withUnsafeBufferPointer({ try Self($0) }) else { return nil }
    self = record
  }

  /// Reads ``bytes``.
  public init(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONError) {
    var reader = JSONReader(bytes)
    self = try Self.read(&reader)
    try reader.finish()
  }
}

extension JSONWriter: FieldVisitor {
  public mutating func visit<Value: FieldValue>(_ name: StaticString, _ value: inout Value) {
    guard value != .unset else { return }
    key(name)
    value.save(to: &self)
  }
}

/// Reads the members of an object into the fields with their names.
private struct FieldReader: FieldVisitor {
  var reader: JSONReader
  /// The member that is next; nil at the end.
  var name: JSONReader.Found?
  /// Whether the last visit has read a member.
  var hasRead = false

  mutating func visit<Value: FieldValue>(_ name: StaticString, _ value: inout Value) throws(JSONError) {
    guard let found = self.name, found.isPlain, found.range.count == name.utf8CodeUnitCount,
      reader.raw(found.range).elementsEqual(
        UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    else { return }
    value = try reader.null() ? .unset : try Value.read(&reader)
    hasRead = true
    self.name = try reader.nextName()
  }

  mutating func visit<Value: FieldValue>(
    _ name: StaticString, formerly earlier: StaticString, _ value: inout Value
  ) throws(JSONError) {
    try visit(earlier, &value)
    try visit(name, &value)
  }
}

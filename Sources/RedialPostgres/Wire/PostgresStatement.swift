internal import RedialCore

/// A query with its arguments, ready to be sent.
///
/// All arguments are in one buffer. An argument that is known only when the statement is sent, such as the session, has
/// its place there, and is filled in then.
struct PostgresStatement: Sendable {
  let query: PostgresQuery
  /// The bytes of all arguments.
  private(set) var bytes: [UInt8] = []
  /// Where each argument is; nil for NULL.
  private(set) var places: [Range<Int>?] = []
  private var sessions: [Int] = []
  private var connections: [Int] = []
  private var sequences: [Int] = []
  private var starts: [Int] = []
  private var types: [(place: Int, type: PostgresRowType)] = []

  /// A statement without arguments yet.
  init(_ query: PostgresQuery) {
    self.query = query
  }

  // MARK: Single values

  /// Adds an integer, or NULL.
  mutating func add(_ value: Int64?) {
    guard let value else { return places.append(nil) }
    argument { $0.bytes.put(value) }
  }

  /// Adds a text, or NULL.
  mutating func add(text: String?) {
    guard let text else { return places.append(nil) }
    let bytes = StoredText.encoded(text)
    argument { $0.bytes += bytes }
  }

  /// Adds a text in UTF-8, or NULL.
  mutating func add(utf8 text: [UInt8]?) {
    add(bytes: text.map(StoredText.encoded))
  }

  /// Adds bytes, or NULL.
  mutating func add(bytes: [UInt8]?) {
    guard let bytes else { return places.append(nil) }
    argument { $0.bytes += bytes }
  }

  /// Adds the session in which the statement is made.
  mutating func addSession() {
    sessions.append(bytes.count)
    add(0)
  }

  /// Adds the number of the session's connection.
  mutating func addConnection() {
    connections.append(bytes.count)
    add(0)
  }

  /// Adds the place of the work in the chain of changes.
  mutating func addSequence() {
    sequences.append(bytes.count)
    add(0)
  }

  /// Adds the due time from which on due calls are looked for.
  mutating func addStart() {
    starts.append(bytes.count)
    add(Int64.min)
  }

  // MARK: Arrays

  /// Adds an array of integers.
  mutating func add(_ values: [Int64]) {
    array(of: ElementType.int8, count: values.count, hasNull: false) { statement in
      for value in values {
        statement.bytes.put(Int32(8))
        statement.bytes.put(value)
      }
    }
  }

  /// Adds an array of integers and NULLs.
  mutating func add(_ values: [Int64?]) {
    array(of: ElementType.int8, count: values.count, hasNull: true) { statement in
      for value in values {
        guard let value else {
          statement.bytes.put(Int32(-1))
          continue
        }
        statement.bytes.put(Int32(8))
        statement.bytes.put(value)
      }
    }
  }

  /// Adds an array of texts and NULLs.
  mutating func add(texts: [String?]) {
    array(of: ElementType.text, count: texts.count, hasNull: true) { statement in
      for text in texts { statement.bytes.put(element: text.map(StoredText.encoded)) }
    }
  }

  /// Adds an array of texts in UTF-8, and NULLs.
  mutating func add(utf8 texts: [[UInt8]?]) {
    array(of: ElementType.text, count: texts.count, hasNull: true) { statement in
      for text in texts { statement.bytes.put(element: text.map(StoredText.encoded)) }
    }
  }

  /// Adds an array of byte strings and NULLs.
  mutating func add(byteStrings: [[UInt8]?]) {
    array(of: ElementType.bytea, count: byteStrings.count, hasNull: true) { statement in
      for element in byteStrings { statement.bytes.put(element: element) }
    }
  }

  /// Adds an array of rows of a type of the schema.
  ///
  /// - Parameter fields: Writes the fields of a row, in the order of the type.
  mutating func add<Row>(_ rows: [Row], as type: PostgresRowType, _ fields: (Row, inout RowFields) -> Void) {
    types.append((bytes.count + Self.elementTypePlace, type))
    array(of: 0, count: rows.count, hasNull: false) { statement in
      var writer = RowFields()
      swap(&writer.bytes, &statement.bytes)
      for row in rows {
        let start = writer.begin()
        fields(row, &writer)
        writer.end(start)
      }
      swap(&writer.bytes, &statement.bytes)
    }
  }

  // MARK: When it is sent

  /// Fills in what was not known before.
  mutating func fill(session: Int64, connection: Int64, sequence: Int64) {
    for place in sessions { bytes.overwrite(place, with: session) }
    for place in connections { bytes.overwrite(place, with: connection) }
    for place in sequences { bytes.overwrite(place, with: sequence) }
  }

  /// Whether it has rows of types whose numbers depend on the database.
  var hasTypes: Bool { !types.isEmpty }

  /// Fills in the numbers of the types of rows.
  mutating func fill(types numbers: [Int64]) {
    for (place, type) in types { bytes.overwrite(place, with: Int32(truncatingIfNeeded: numbers[type.rawValue])) }
  }

  /// Fills in from which due time on due calls are looked for; nil for all.
  mutating func fill(start: Timestamp?) {
    for place in starts { bytes.overwrite(place, with: start?.microseconds ?? .min) }
  }

  // MARK: Encoding

  private mutating func argument(_ write: (inout Self) -> Void) {
    let start = bytes.count
    write(&self)
    places.append(start..<bytes.count)
  }

  /// A one-dimensional array: its dimensions, whether it has NULLs, the type, the size, the lower bound, the elements
  /// (`array_recv` in PostgreSQL's arrayfuncs.c). An array without elements has no dimensions.
  private mutating func array(of type: UInt32, count: Int, hasNull: Bool, _ elements: (inout Self) -> Void) {
    argument { statement in
      statement.bytes.put(Int32(count == 0 ? 0 : 1))
      statement.bytes.put(Int32(hasNull ? 1 : 0))
      statement.bytes.put(Int32(bitPattern: type))
      guard count > 0 else { return }
      statement.bytes.put(Int32(count))
      statement.bytes.put(Int32(1))
      elements(&statement)
    }
  }

  /// Where the type is in an array, behind the number of dimensions and whether there are NULLs.
  private static let elementTypePlace = 8
}

/// The fields of a row: their number, and each with its type, its size and its bytes (`record_recv` in PostgreSQL's
/// rowtypes.c).
struct RowFields {
  fileprivate var bytes: [UInt8] = []
  private var count: Int32 = 0

  /// Adds an integer, or NULL.
  mutating func add(_ value: Int64?) {
    count += 1
    bytes.put(Int32(bitPattern: ElementType.int8))
    guard let value else { return bytes.put(Int32(-1)) }
    bytes.put(Int32(8))
    bytes.put(value)
  }

  /// Adds bytes, or NULL.
  mutating func add(bytes value: [UInt8]?) {
    count += 1
    bytes.put(Int32(bitPattern: ElementType.bytea))
    bytes.put(element: value)
  }

  /// The size and the number of fields are filled in at the end.
  fileprivate mutating func begin() -> Int {
    count = 0
    bytes.put(Int32(0))
    bytes.put(Int32(0))
    return bytes.count
  }

  fileprivate mutating func end(_ start: Int) {
    bytes.overwrite(start - 8, with: Int32(bytes.count - start + 4))
    bytes.overwrite(start - 4, with: count)
  }
}

/// The type numbers of elements and fields (pg_type.oid), which never change.
private enum ElementType {
  static let bytea: UInt32 = 17
  static let int8: UInt32 = 20
  static let text: UInt32 = 25
}

extension [UInt8] {
  fileprivate mutating func put(_ value: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
  }

  fileprivate mutating func put(element: [UInt8]?) {
    guard let element else { return put(Int32(-1)) }
    put(Int32(element.count))
    self += element
  }

  fileprivate mutating func overwrite(_ place: Int, with value: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: value.bigEndian) { replaceSubrange(place..<(place + $0.count), with: $0) }
  }
}

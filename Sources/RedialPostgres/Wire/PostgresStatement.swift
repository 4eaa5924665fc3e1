internal import RedialCore

/// A query with its arguments, ready to be sent.
///
/// All arguments are in one buffer. An argument that is known only when the statement is sent, such as the session, has
/// its place there, and is filled in then.
struct PostgresStatement: Sendable {
  /// The query.
  let query: PostgresQuery
  /// The bytes of all arguments.
  private(set) var bytes: [UInt8] = []
  /// Where each argument is; nil for NULL.
  private(set) var places: [Range<Int>?] = []
  private var sessions: [Int] = []
  private var connections: [Int] = []
  private var sequences: [Int] = []
  private var starts: [Int] = []

  /// The type numbers of array elements (pg_type.oid), which never change.
  private enum ElementType {
    static let bytea: UInt32 = 17
    static let int8: UInt32 = 20
    static let text: UInt32 = 25
  }

  /// A statement without arguments yet.
  init(_ query: PostgresQuery) {
    self.query = query
  }

  // MARK: Single values

  /// Adds an integer, or NULL.
  mutating func add(_ value: Int64?) {
    guard let value else { return places.append(nil) }
    argument { $0.put(value) }
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
        statement.put(Int32(8))
        statement.put(value)
      }
    }
  }

  /// Adds an array of integers and NULLs.
  mutating func add(_ values: [Int64?]) {
    array(of: ElementType.int8, count: values.count, hasNull: true) { statement in
      for value in values {
        guard let value else {
          statement.put(Int32(-1))
          continue
        }
        statement.put(Int32(8))
        statement.put(value)
      }
    }
  }

  /// Adds an array of texts and NULLs.
  mutating func add(texts: [String?]) {
    array(of: ElementType.text, count: texts.count, hasNull: true) { statement in
      for text in texts { statement.put(element: text.map(StoredText.encoded)) }
    }
  }

  /// Adds an array of texts in UTF-8, and NULLs.
  mutating func add(utf8 texts: [[UInt8]?]) {
    array(of: ElementType.text, count: texts.count, hasNull: true) { statement in
      for text in texts { statement.put(element: text.map(StoredText.encoded)) }
    }
  }

  /// Adds an array of byte strings and NULLs.
  mutating func add(byteStrings: [[UInt8]?]) {
    array(of: ElementType.bytea, count: byteStrings.count, hasNull: true) { statement in
      for element in byteStrings { statement.put(element: element) }
    }
  }

  // MARK: When it is sent

  /// Fills in what was not known before.
  mutating func fill(session: Int64, connection: Int64, sequence: Int64) {
    for place in sessions { overwrite(place, with: session) }
    for place in connections { overwrite(place, with: connection) }
    for place in sequences { overwrite(place, with: sequence) }
  }

  /// Fills in from which due time on due calls are looked for; nil for all.
  mutating func fill(start: Timestamp?) {
    for place in starts { overwrite(place, with: start?.microseconds ?? .min) }
  }

  private mutating func overwrite(_ place: Int, with value: Int64) {
    for index in 0..<8 { bytes[place + index] = UInt8(truncatingIfNeeded: value >> Int64(56 - 8 * index)) }
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
      statement.put(Int32(count == 0 ? 0 : 1))
      statement.put(Int32(hasNull ? 1 : 0))
      statement.put(Int32(bitPattern: type))
      guard count > 0 else { return }
      statement.put(Int32(count))
      statement.put(Int32(1))
      elements(&statement)
    }
  }

  private mutating func put(_ value: Int64) {
    withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
  }

  private mutating func put(_ value: Int32) {
    withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
  }

  private mutating func put(element: [UInt8]?) {
    guard let element else { return put(Int32(-1)) }
    put(Int32(element.count))
    bytes += element
  }
}

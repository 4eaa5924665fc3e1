/// The extensions of a chunk, byte by byte (RFC 9112 section 7.1.1):
///
///     chunk-ext = *( BWS ";" BWS chunk-ext-name [ BWS "=" BWS ( token / quoted-string ) ] )
///
/// They are dropped, but two recipients must not read them differently, because requests are smuggled that way.
struct ChunkExtensions: Equatable {
  /// What may come next. The comment of each state lists its successors.
  private enum State: Equatable {
    /// After a semicolon: name
    case start
    /// afterName, start, valueStart, the end
    case name
    /// Blanks that only an equals sign or a semicolon may follow: start, valueStart
    case afterName
    /// After an equals sign: value, quoted
    case valueStart
    /// afterValue, start, the end
    case value
    /// quotedPair, afterQuoted
    case quoted
    /// quoted
    case quotedPair
    /// afterValue, start, the end
    case afterQuoted
    /// Blanks that only a semicolon may follow: start
    case afterValue
  }

  private var state = State.start

  /// Reads a byte after the first semicolon; true for the CR after the last extension.
  mutating func accept(_ byte: UInt8) throws(ProtocolError) -> Bool {
    switch state {
    case .start where ASCII.isBlank(byte), .afterName where ASCII.isBlank(byte), .valueStart where ASCII.isBlank(byte),
      .afterValue where ASCII.isBlank(byte):
      break
    case .start where ASCII.isToken(byte), .name where ASCII.isToken(byte): state = .name
    case .valueStart where ASCII.isToken(byte), .value where ASCII.isToken(byte): state = .value
    case .name where ASCII.isBlank(byte): state = .afterName
    case .value where ASCII.isBlank(byte), .afterQuoted where ASCII.isBlank(byte): state = .afterValue
    case .name where byte == Self.equals, .afterName where byte == Self.equals: state = .valueStart
    case .valueStart where byte == Self.quote: state = .quoted
    case .quoted where byte == Self.quote: state = .afterQuoted
    case .quoted where byte == Self.backslash: state = .quotedPair
    case .quoted where ASCII.isFieldValue(byte): break
    case .quotedPair where ASCII.isFieldValue(byte): state = .quoted
    case .name where byte == ASCII.semicolon, .afterName where byte == ASCII.semicolon,
      .value where byte == ASCII.semicolon, .afterQuoted where byte == ASCII.semicolon,
      .afterValue where byte == ASCII.semicolon:
      state = .start
    case .name where byte == ASCII.carriageReturn, .value where byte == ASCII.carriageReturn,
      .afterQuoted where byte == ASCII.carriageReturn:
      return true
    default: throw .badRequest("A chunk extension is not a name, or a name and its value.")
    }
    return false
  }

  private static let equals = UInt8(ascii: "=")
  private static let quote = UInt8(ascii: "\"")
  private static let backslash = UInt8(ascii: "\\")
}

public import RedialJSON

/// One HTTP header field as its sender wrote it.
public struct HeaderField: Sendable, Hashable {
  /// The field name, case preserved; compared without regard to case (RFC 9110 §5.1).
  public var name: String
  /// The field value, without surrounding white space.
  public var value: String
  /// Whether the value is sent in ISO-8859-1, as it came; others are sent in UTF-8.
  ///
  /// A value may have any byte from 0x80 on (RFC 9110 §5.5). If they are not UTF-8, each is kept as its character in
  /// ISO-8859-1, which is what they once meant. So they are text for people, and are sent as they came.
  public private(set) var isLatin1 = false

  /// Creates a field from a name and a value that the caller has validated.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }

  /// Creates a field from the bytes of a value.
  public init(_ name: String, bytes: some Collection<UInt8>) {
    self.name = name
    (value, isLatin1) = ByteText.decoded(bytes)
  }

  /// Whether the field has that name, ignoring case.
  ///
  /// - Parameter lowercase: ASCII in lower case.
  public func isNamed(_ lowercase: StaticString) -> Bool { ASCIIText.equal(name, ignoringCase: lowercase) }
}

extension HeaderField {
  /// Writes the value so that ``init(_:storedIn:)`` has its bytes again.
  public func writeStored(to writer: inout JSONWriter) {
    guard isLatin1 else { return writer.string(value) }
    writer.beginObject()
    writer.field(Self.latin1, value)
    writer.endObject()
  }

  /// Reads a value that is not in UTF-8, as ``writeStored(to:)`` writes it; nil for anything else.
  init?(_ name: String, storedIn reader: inout JSONReader) throws(JSONError) {
    self.init(name, "")
    isLatin1 = true
    var isWhole = false
    try reader.beginObject()
    while let member = try reader.nextKey() {
      if !isWhole, member == "\(Self.latin1)", try reader.peek() == .string {
        value = try reader.string()
        isWhole = value.unicodeScalars.allSatisfy { $0.value <= 0xFF }
      } else {
        isWhole = false
        _ = try reader.skipValue()
      }
    }
    if !isWhole { return nil }
  }

  private static let latin1: StaticString = "latin1"
}

/// A value of a row in the form that all stores have in common. Values are equal if their bytes are.
package enum ContentValue: Sendable, Hashable {
  /// No value.
  case null
  /// A number, a time in microseconds since 1970, a duration in microseconds, or 0 and 1 for no and yes.
  case integer(Int64)
  /// A text, in UTF-8. It may contain U+0000.
  case text([UInt8])
  /// Bytes as they are stored, such as a compressed body.
  case bytes([UInt8])

  /// About how much memory it takes, in bytes.
  package var size: Int {
    switch self {
    case .null, .integer: 16
    case .text(let bytes), .bytes(let bytes): 16 + bytes.count
    }
  }

  /// The number; nil for everything else.
  package var integer: Int64? {
    if case .integer(let value) = self { value } else { nil }
  }

  /// The bytes of a text or of bytes; nil for everything else.
  package var content: [UInt8]? {
    switch self {
    case .null, .integer: nil
    case .text(let bytes), .bytes(let bytes): bytes
    }
  }
}

/// The values of a row, in the order of ``ContentSection/columns``.
package typealias ContentRow = [ContentValue]

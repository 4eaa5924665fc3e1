public import RedialCore

/// Identifies a submission that a client may repeat (draft-ietf-httpapi-idempotency-key-header).
public struct IdempotencyKey: Sendable, Hashable {
  /// The client's key, in its namespace.
  public var name: IdempotencyName
  /// A digest of the submission: the same key for another submission is a client's mistake.
  public var fingerprint: [UInt8]
  /// The digest that earlier versions have stored of the same submission, if that is another one. It is not stored.
  public var former: [UInt8]?

  /// Creates a key.
  public init(_ name: IdempotencyName, fingerprint: [UInt8], former: [UInt8]? = nil) {
    self.name = name
    self.fingerprint = fingerprint
    self.former = former
  }

  /// Whether it is of the same submission as an accepted one.
  public func repeats(_ earlier: IdempotencyKey) -> Bool {
    fingerprint == earlier.fingerprint || former == earlier.fingerprint
  }

  /// The longest key, in bytes.
  public static let longest = 255

  /// Reads the value of an `Idempotency-Key` field: a string as in RFC 8941 §3.3.3, or, because many clients send it
  /// so, the bare text without blanks, quotes and commas. Nil if it is neither, empty, or longer than ``longest``.
  public static func parse(_ value: String) -> String? {
    var bytes = value.utf8[...]
    guard bytes.first == UInt8(ascii: "\"") else {
      let isBare = bytes.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x2C }
      return isBare && (1...longest).contains(bytes.count) ? value : nil
    }
    bytes = bytes.dropFirst()
    var text: [UInt8] = []
    while let byte = bytes.popFirst() {
      switch byte {
      case UInt8(ascii: "\""):
        return bytes.isEmpty && (1...longest).contains(text.count) ? String(decoding: text, as: UTF8.self) : nil
      case UInt8(ascii: "\\"):
        guard let escaped = bytes.popFirst(), escaped == 0x22 || escaped == 0x5C else { return nil }
        text.append(escaped)
      case 0x20...0x7E: text.append(byte)
      default: return nil
      }
    }
    return nil
  }
}

/// The key of an accepted call.
public struct KeyRecord: Sendable, Hashable {
  public var key: IdempotencyKey
  public var call: CallID
  /// When it was accepted.
  public var createdAt: Timestamp
  /// When the key is forgotten.
  public var expiresAt: Timestamp

  /// Creates a record.
  public init(key: IdempotencyKey, call: CallID, createdAt: Timestamp, expiresAt: Timestamp) {
    self.key = key
    self.call = call
    self.createdAt = createdAt
    self.expiresAt = expiresAt
  }
}

/// A call that cannot be accepted, because another instance accepted one under its key first.
public struct TakenKey: Sendable, Hashable {
  /// The call that was refused.
  public var submitted: KeyRecord
  /// The call that was accepted first, and is on disk.
  public var earlier: KeyRecord

  /// Creates it.
  public init(submitted: KeyRecord, earlier: KeyRecord) {
    self.submitted = submitted
    self.earlier = earlier
  }

  /// Whether both submissions are equal.
  public var isRepetition: Bool { submitted.key.repeats(earlier.key) }
}

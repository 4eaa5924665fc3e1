internal import CLinux
internal import RedialCore
package import RedialModel

/// A CRC-32C of stored values, one after the other. A single changed bit is always found.
///
/// A store has none for rows of earlier versions, which are not checked. What is written over such a row gets one.
package struct Checksum: Sendable {
  private var state = UInt32.max

  /// Of nothing yet.
  package init() {}

  /// The checksum of all that was added.
  package var value: UInt32 { ~state }

  /// The same as the value of a column, which has signed numbers.
  package var column: Int64 { Int64(Int32(bitPattern: value)) }

  /// Adds bytes without their count, so that they may come in pieces.
  package mutating func add(piece bytes: UnsafeRawBufferPointer) {
    state = redial_continue_crc32c(state, bytes.baseAddress, bytes.count)
  }

  /// Adds a number, or that there is none.
  package mutating func add(_ number: Int64?) {
    var bytes = (UInt64(bitPattern: number?.littleEndian ?? 0), number == nil ? 0 : 1 as UInt8)
    // The size of a tuple has no padding behind its last member.
    withUnsafeBytes(of: &bytes) { add(piece: $0) }
  }

  /// Adds bytes behind their count, so that no byte can move from one value to the next unnoticed.
  package mutating func add(_ bytes: UnsafeBufferPointer<UInt8>) {
    add(Int64(bytes.count))
    add(piece: UnsafeRawBufferPointer(bytes))
  }

  /// The same for an array.
  package mutating func add(_ bytes: [UInt8]) {
    bytes.withUnsafeBufferPointer { add($0) }
  }

  /// Adds a text, or that there is none.
  package mutating func add(_ text: String?) {
    guard var text else { return add(nil as Int64?) }
    text.withUTF8 { add($0) }
  }

  /// Whether a column has this checksum, or none.
  package func fits(_ column: Int64?) -> Bool { column == nil || column == self.column }
}

extension StoredDocument {
  /// The checksum of a document as it is stored.
  package var checksum: Checksum {
    var sum = Checksum()
    sum.add(kind.rawValue)
    sum.add(id)
    sum.add(content)
    return sum
  }

  /// A document as it was read, with the column of its checksum.
  package struct Row: Sendable {
    package let document: StoredDocument
    private let sum: Int64?

    /// - Parameter sum: Nil for a row of an earlier version.
    package init(_ document: StoredDocument, sum: Int64?) {
      (self.document, self.sum) = (document, sum)
    }

    /// What is served of it.
    ///
    /// - Throws: If it has another checksum.
    package func checked() throws(StoreError) -> StoredDocument {
      if document.checksum.fits(sum) { return document }
      throw StoreError(
        kind: .corrupt,
        message: "The \(document.kind.rawValue) \(document.id) in the store is damaged: it has another checksum. "
          + "Restore a backup, or set it anew.")
    }
  }
}

extension [StoredDocument.Row] {
  /// Those without damage.
  package var intact: [StoredDocument] { compactMap { try? $0.checked() } }
}

extension KeyRecord {
  /// The checksum of a key as it is stored.
  package var checksum: Checksum {
    var sum = Checksum()
    sum.add(key.name.text)
    sum.add(call.rawValue)
    sum.add(key.fingerprint)
    sum.add(createdAt.microseconds)
    sum.add(expiresAt.microseconds)
    return sum
  }

  /// A key as it was read. A damaged one is of no submission, so that each under it is refused: which call it was for is not known,
  /// and to accept another would be to execute it twice.
  package func checked(_ column: Int64?) -> KeyRecord {
    var checked = self
    if !checksum.fits(column) { checked.key.fingerprint = [] }
    return checked
  }

  /// Why it cannot be read, as a sentence.
  package var damage: StoreError {
    StoreError(
      kind: .corrupt,
      message: "The idempotency key \"\(key.name.bare)\" of \(call) is damaged: it has another checksum.")
  }
}

extension ManualRetry {
  /// That one has another checksum.
  package static func damage(of id: CallID) -> DamagedCall {
    DamagedCall(id: id, reason: "a manual retry of it has another checksum", isBroken: true)
  }

  /// The checksum of a retry of a call.
  package func checksum(of id: CallID) -> Checksum {
    var sum = Checksum()
    sum.add(id.rawValue)
    sum.add(at.microseconds)
    sum.add(Int64(afterAttempt))
    sum.add(attribution.by)
    sum.add(attribution.reason)
    return sum
  }
}

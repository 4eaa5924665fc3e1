internal import RedialJSON
package import RedialModel

/// Seals lines of an archive by a key of the archive's own, which the archive has, wrapped as a store's data keys are.
package struct ArchiveSeal: Sendable {
  /// In place of a namespace.
  static let namespace = "archive"

  /// The key as it is written before the first sealed line.
  package let key: StoredDataKey
  private let dataKey: DataKey
  private var nonces = Nonces()

  init(_ key: StoredDataKey, _ dataKey: DataKey) {
    (self.key, self.dataKey) = (key, dataKey)
  }

  /// A line with another one in it, sealed.
  package mutating func line(_ line: ArchiveLine) -> [UInt8] {
    let plain = line.json
    let nonce = nonces.take(SealedForm.chunks(of: plain.count))
    let sealed = Sealing.seal(plain, .line, key: dataKey.id, dataKey.cipher, nonce: nonce)
    var writer = JSONWriter(capacity: sealed.count * 4 / 3 + 64)
    writer.beginObject()
    writer.field("sealed", Base64.encode(sealed))
    LineChecksum.end(&writer)
    return writer.bytes
  }
}

/// Opens the sealed lines of an archive.
package struct ArchiveOpener: Sendable {
  private let dataKey: DataKey

  init(_ dataKey: DataKey) {
    self.dataKey = dataKey
  }

  /// The line in a sealed one; nil if it is not as it was written.
  func opened(_ sealed: [UInt8]) -> [UInt8]? {
    sealed.withUnsafeBufferPointer { bytes in
      SealedForm.key(of: bytes) == dataKey.id ? Sealing.open(bytes, .line, dataKey.cipher) : nil
    }
  }
}

extension Vault {
  /// Whether a line of an archive is sealed. Without a key that a person has set up, these are only secrets that are never
  /// plain anywhere: whoever imports the archive may not have the key beside this store.
  package func seals(_ line: ArchiveLine) -> Bool {
    switch line {
    case .header, .key, .end: false
    case .item(.document(let document)): sealsAll || document.kind.isNeverPlain
    case .item(.target(_, let record)): sealsAll || seals(record)
    case .item(.setting), .item(.counts): sealsAll
    case .call(let call): seals(call.record.spec)
    }
  }

  /// What seals the lines of a new archive.
  package func archiveSeal() throws(StoreError) -> ArchiveSeal {
    guard let document = try newKey(of: ArchiveSeal.namespace, isNext: true) else { throw Self.refusal(of: "A secret") }
    let key = try StoredDataKey(document)
    return ArchiveSeal(key, try unwrapped(key))
  }

  /// What opens the lines of an archive.
  ///
  /// - Throws: If this is not the key by which the archive's own is wrapped.
  package func opener(of key: StoredDataKey) throws(StoreError) -> ArchiveOpener { ArchiveOpener(try unwrapped(key)) }
}

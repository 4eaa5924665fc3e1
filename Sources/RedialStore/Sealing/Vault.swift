package import RedialModel
internal import RedialJSON
internal import Synchronization

/// The data keys of a store that is open, and what is sealed by them. It is used from any thread.
///
/// Without a key that a person has set up, payloads are stored as they are, and only secrets are sealed, by a key beside the store.
package final class Vault: Sendable {
  /// Seals nothing.
  package static let none = Vault()

  /// In place of a namespace, for what belongs to the service itself. No namespace has this name.
  package static let service = "*"

  /// Whether all payloads are sealed, and not only secrets.
  package let sealsAll: Bool
  /// Whether values whose keys are missing are set aside one by one. Otherwise a store with such a key is not opened.
  private let setsAside: Bool
  private let keeper: (any KeyKeeper)?
  private let state = Mutex(State())
  private let slow = SlowUnwrapping()

  private struct State {
    var keys = DataKeys()
    /// Keys that are not committed yet.
    var pending: [StoredDataKey] = []
    /// New keys by namespace, which were made before they are needed, and can be unwrapped.
    var prepared: [String: PreparedKey] = [:]
    /// How often the keys have changed.
    var changes = 0
    var nonces = Nonces()
    var reader: (@Sendable () throws(StoreError) -> [StoredDocument])?
    /// Gets why values cannot be read, when that changes.
    var watcher: (@Sendable (StoreError?) -> Void)?
    var isLacking = false
  }

  private struct PreparedKey {
    let stored: StoredDataKey
    let key: DataKey
  }

  /// - Parameters:
  ///   - keeper: Wraps the data keys; nil if there is no key.
  ///   - sealsAll: Whether all payloads are sealed, and not only secrets.
  ///   - setsAside: Whether values whose keys are missing are set aside, and the others are read.
  package init(_ keeper: (any KeyKeeper)? = nil, sealsAll: Bool = false, setsAside: Bool = false) {
    (self.keeper, self.setsAside) = (keeper, setsAside)
    self.sealsAll = sealsAll && keeper != nil
  }

  /// Whether secrets can be sealed.
  package var canSeal: Bool { keeper != nil }

  /// Why a secret is not stored.
  package static func refusal(of what: String) -> StoreError {
    StoreError(
      kind: .unavailable,
      message: "\(what) was not stored: this store has no key to encrypt it with. Set encryptionKeyFile "
        + "(REDIAL_ENCRYPTION_KEY_FILE) to the same file for all instances, and start them again.")
  }

  // MARK: What is sealed

  /// Whether documents of a kind are sealed.
  package func seals(_ kind: StoredDocument.Kind) -> Bool {
    kind != .dataKey && (sealsAll || canSeal && kind.isSecret)
  }

  /// Whether a value of the service is sealed.
  package func seals(setting name: String) -> Bool { canSeal && Self.secrets.contains(name) }

  /// The values of the service that are secrets.
  package static let secrets: Set<String> = ["webhookSecret", "peerSecret"]

  // MARK: Keys

  /// Sets who reads the data keys of the store again, when a value names one that is not known.
  package func read(by reader: @escaping @Sendable () throws(StoreError) -> [StoredDocument]) {
    state.withLock { $0.reader = reader }
  }

  /// Takes the data keys of the store.
  ///
  /// - Returns: Those that another key should wrap, as they should be stored.
  /// - Throws: If one cannot be unwrapped, because this is not the key that the store was written with, unless it sets
  ///   aside what that key has sealed.
  @discardableResult
  package func load(_ documents: [StoredDocument]) throws(StoreError) -> [StoredDocument] {
    try load(documents, unlessChangedSince: nil) ?? []
  }

  /// The same; nil if the keys have changed since the documents were read, as they were after that many changes.
  private func load(
    _ documents: [StoredDocument], unlessChangedSince read: Int?
  ) throws(StoreError) -> [StoredDocument]? {
    var (loaded, old): ([(StoredDataKey, DataKey?, isDamaged: Bool)], [StoredDocument]) = ([], [])
    let (known, isWatched) = state.withLock { ($0.keys.all, $0.watcher != nil) }
    for document in documents {
      var stored: StoredDataKey
      let key: DataKey?
      do throws(StoreError) {
        stored = try StoredDataKey(document)
        if stored.erasedAt != nil {
          key = nil
        } else if let found = known[UInt32(stored.key)] {
          key = found
        } else {
          key = try isWatched && isSlow ? unwrappedSoon(stored) : unwrapped(stored)
        }
      } catch {
        stored = (try? StoredDataKey(document)) ?? StoredDataKey(unreadable: document)
        if error.kind == .corrupt {
          // What it has sealed cannot be read, unless it is known here; and nothing more is sealed by it.
          stored.replacedAt = WallTime.now
          loaded.append((stored, known.values.first(where: stored.isOf), isDamaged: true))
          continue
        }
        guard setsAside || isWatched && error.kind == .unavailable else { throw error }
        key = nil
      }
      guard let key else {
        loaded.append((stored, nil, isDamaged: false))
        continue
      }
      if let keeper, keeper.isOld(by: stored.by) {
        try wrap(key.cipher.bytes, in: &stored)
        old.append(stored.document)
      }
      loaded.append((stored, key, isDamaged: false))
    }
    let isCurrent = state.withLock { state in
      if let read, read != state.changes { return false }
      state.changes += 1
      let before = state.keys
      state.keys = DataKeys()
      for (stored, key, isDamaged) in loaded { state.keys.add(stored, key, isDamaged: isDamaged) }
      for stored in state.pending {
        if let key = before.all[UInt32(stored.key)] { state.keys.add(stored, key) }
      }
      state.keys.keep(before)
      return true
    }
    guard isCurrent else { return nil }
    tellLack()
    return old
  }

  /// From now on the keys of others may be missing. Values that need one are neither read nor written then, nor taken for
  /// damaged.
  ///
  /// - Parameter missing: Gets why, and nil when all keys are there again.
  package func watch(_ missing: @escaping @Sendable (StoreError?) -> Void) {
    state.withLock { $0.watcher = missing }
  }

  private func tellLack() {
    let (watcher, lack) = state.withLock { state -> ((@Sendable (StoreError?) -> Void)?, StoredDataKey?) in
      let lack = state.keys.lost.values.first
      guard state.isLacking != (lack != nil) else { return (nil, nil) }
      state.isLacking = lack != nil
      return (state.watcher, lack)
    }
    watcher?(lack.map(Self.lack))
  }

  /// Why a value is left where it is.
  private static func lack(of key: StoredDataKey) -> StoreError {
    missing(key.by, "Another instance has encrypted values, and this one has not the key \(key.by) for them.")
  }

  /// Whether making a data key may take seconds.
  package var isSlow: Bool { keeper?.isSlow ?? false }

  /// Whether what is new in a namespace can be sealed without making a data key.
  package func hasKey(of namespace: String) -> Bool {
    state.withLock { $0.keys.current[namespace] != nil || $0.prepared[namespace] != nil }
  }

  /// Makes the data key of a namespace that has none. It waits to be stored with what it seals first, so that a program
  /// which wraps it delays nothing else.
  package func prepare(_ namespace: String) throws(StoreError) {
    guard !hasKey(of: namespace), let document = try newKey(of: namespace) else { return }
    let stored = try StoredDataKey(document)
    let made = PreparedKey(stored: stored, key: try unwrapped(stored))
    state.withLock { $0.prepared[namespace] = made }
  }

  /// Makes sure that data keys can be wrapped, where that may fail: before a store is made or changed that needs one. What
  /// it makes for that is the data key that secrets of the service need first.
  package func proveKey() throws(StoreError) {
    if isSlow { try prepare(Self.service) }
  }

  /// A new data key for a namespace, to be stored before it is used; nil if it has one.
  ///
  /// - Parameter isNext: Whether it gets another one.
  package func newKey(
    of namespace: String, isNext: Bool = false
  ) throws(StoreError) -> StoredDocument? {
    guard isNext || state.withLock({ $0.keys.current[namespace] == nil }) else { return nil }
    let prepared = state.withLock { state in
      // One that was made and erased meanwhile has its generation.
      state.prepared[namespace].flatMap {
        $0.stored.generation > state.keys.lastGeneration(of: namespace) ? $0.stored.document : nil
      }
    }
    if let prepared, !isNext { return prepared }
    guard keeper != nil else { throw Self.refusal(of: "A secret") }
    // Another instance has made one, and would not read what is sealed by a second.
    if !setsAside, let lack = state.withLock({ $0.keys.lost.values.first { $0.namespace == namespace } }) {
      throw Self.lack(of: lack)
    }
    var stored = StoredDataKey()
    repeat {
      stored.key = Int(SealingBytes.random(4).reduce(0 as UInt32) { $0 << 8 | UInt32($1) })
    } while state.withLock { $0.keys.knows(UInt32(stored.key)) }
    stored.namespace = namespace
    stored.generation = 1 + state.withLock { $0.keys.lastGeneration(of: namespace) }
    stored.createdAt = WallTime.now
    try wrap(SealingBytes.random(GCMKey.keyBytes), in: &stored)
    return stored.document
  }

  /// The data keys that seal the new values of namespaces, by the ids of their documents.
  package func currentKeys(of names: Set<String>) -> [String] {
    state.withLock { state in
      // None has the generation 0: what is sealed without a key is not stored.
      names.sorted().map { StoredDataKey.id($0, state.keys.current[$0]?.generation ?? 0) }
    }
  }

  /// What has data keys: namespaces, and the service.
  package var namespaces: [String] { state.withLock { $0.keys.current.keys.sorted() } }

  /// The number of the key that seals the new values of a namespace.
  func currentKey(of namespace: String) -> UInt32? { state.withLock { $0.keys.current[namespace]?.id } }

  /// Whether a newer data key has replaced one. One that cannot be unwrapped stays for what it has sealed.
  package func isReplaced(_ document: StoredDocument) -> Bool {
    guard let stored = try? StoredDataKey(document), stored.erasedAt == nil else { return false }
    return state.withLock {
      $0.keys.lost[UInt32(stored.key)] == nil
        && $0.keys.current[stored.namespace]?.generation ?? 0 > stored.generation
    }
  }

  /// The keys that are missing: without them, values of the store cannot be read.
  package var missingKeys: [String] { Set(state.withLock { $0.keys.lost.values.map(\.by) }).sorted() }

  /// The documents of data keys that are damaged: what they have sealed cannot be read.
  package var damagedKeys: [String] { state.withLock { $0.keys.damaged.keys.sorted() } }

  /// Takes a new data key that is part of a transaction, until ``didCommit()`` or ``didRollBack()``.
  package func add(_ document: StoredDocument) throws(StoreError) {
    let stored = try StoredDataKey(document)
    let prepared = state.withLock { $0.prepared[stored.namespace] }
    let key = if let prepared, prepared.stored == stored { prepared.key } else { try unwrapped(stored) }
    state.withLock { state in
      state.changes += 1
      state.keys.add(stored, key)
      state.pending.append(stored)
    }
  }

  /// The transaction's keys are committed.
  package func didCommit() {
    guard canSeal else { return }
    state.withLock { state in
      for stored in state.pending { state.prepared[stored.namespace] = nil }
      state.pending = []
    }
  }

  /// The transaction's keys are not in the store.
  package func didRollBack() {
    guard canSeal else { return }
    state.withLock { state in
      for stored in state.pending { state.keys.remove(stored) }
      state.pending = []
    }
  }

  private func wrap(_ key: [UInt8], in stored: inout StoredDataKey) throws(StoreError) {
    guard let keeper else { throw Self.refusal(of: "A data key") }
    let (wrapped, by) = try keeper.wrap(key, .dataKey(UInt32(stored.key), namespace: stored.namespace))
    (stored.wrapped, stored.by, stored.fingerprint) = (Base64.encode(wrapped), by, SealingBytes.fingerprint(key))
  }

  func unwrapped(_ stored: StoredDataKey) throws(StoreError) -> DataKey {
    guard let keeper else {
      throw Self.missing(
        stored.by, "Values of the store are encrypted, and their keys are wrapped by the key \(stored.by).")
    }
    let id = UInt32(stored.key)
    let key = try keeper.unwrap(
      Base64.decode(stored.wrapped) ?? [], by: stored.by, .dataKey(id, namespace: stored.namespace))
    guard stored.fingerprint.isEmpty || stored.fingerprint == SealingBytes.fingerprint(key) else {
      throw StoreError(
        kind: .unavailable,
        message:
          "A data key of \(stored.namespace) was unwrapped to another one than was wrapped: encryptionKeyCommand has "
          + "printed a wrong key. Nothing was changed.")
    }
    return DataKey(id: id, namespace: stored.namespace, generation: stored.generation, key)
  }

  /// Why a store is not opened.
  package static func missing(_ key: String, _ reason: String) -> StoreError {
    StoreError(
      kind: .unavailable,
      message:
        "\(reason) Let encryptionKeyFile (REDIAL_ENCRYPTION_KEY_FILE) name the file with the key \(key). If it is "
        + "lost, redial salvage --without-key FROM TO makes a store of what can be read without it. Nothing was changed."
    )
  }

  /// The same, with a program that need not end in time: then the key is missing until it has.
  private func unwrappedSoon(_ stored: StoredDataKey) throws(StoreError) -> DataKey {
    try slow.key(
      of: stored,
      unwrap: { [weak self] () throws(StoreError) in
        guard let self else { throw Self.refusal(of: "A data key") }
        return try unwrapped(stored)
      }, isMissing: { [weak self] in self?.state.withLock { $0.keys.lost[UInt32(stored.key)] != nil } ?? false },
      // If they cannot be read now, whoever reads them next takes it.
      found: { [weak self] in try? self?.readAgain() })
  }

  // MARK: Values

  /// Seals a value by the key of a namespace, which must have one.
  package func seal(_ plain: [UInt8], _ name: SealedName, in namespace: String) -> [UInt8] {
    let chunks = SealedForm.chunks(of: plain.count)
    let (key, nonce) = state.withLock { state in (state.keys.current[namespace], state.nonces.take(chunks)) }
    if let key { return Sealing.seal(plain, name, key: key.id, key.cipher, nonce: nonce) }
    // Another process has just erased it. The transaction that this is for is not made: its proof fails.
    precondition(state.withLock { $0.keys.hasErased(namespace) }, "there is no data key of \(namespace)")
    return Sealing.seal(plain, name, key: 0, GCMKey(SealingBytes.random(GCMKey.keyBytes)), nonce: nonce)
  }

  /// Opens a value.
  package func open(_ sealed: UnsafeBufferPointer<UInt8>, _ name: SealedName) throws(SealDamage) -> [UInt8] {
    let key = try key(of: sealed)
    guard let plain = Sealing.open(sealed, name, key.cipher) else { throw .changed }
    return plain
  }

  /// Opens one chunk of a value.
  ///
  /// - Parameter head: The first bytes of the value.
  package func open(
    chunk sealed: [UInt8], _ number: Int, isLast: Bool, of head: [UInt8], _ name: SealedName
  ) throws(SealDamage) -> [UInt8] {
    let key = try head.withUnsafeBufferPointer { head throws(SealDamage) -> DataKey in try self.key(of: head) }
    var isIntact = false
    let plain = [UInt8](unsafeUninitializedCapacity: max(1, sealed.count)) { output, count in
      guard let base = output.baseAddress else { return }
      isIntact = sealed.withUnsafeBytes {
        Sealing.open(chunk: $0, number, isLast: isLast, name, key.cipher, into: base)
      }
      count = isIntact ? sealed.count - SealedForm.chunkRoom : 0
    }
    guard isIntact else { throw .changed }
    return plain
  }

  /// Whether bytes seem to be sealed by a key of the store. One plain value in billions may seem so, too.
  package func knows(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard canSeal, let id = SealedForm.key(of: bytes) else { return false }
    return state.withLock { $0.keys.knows(id) }
  }

  /// The same.
  package func knows(_ bytes: [UInt8]) -> Bool {
    bytes.first == SealedForm.marker && bytes.withUnsafeBufferPointer { knows($0) }
  }

  /// A value that may be sealed, where a plain one is JSON or nothing.
  package func opened(_ bytes: [UInt8], _ name: SealedName) throws(SealDamage) -> [UInt8] {
    guard bytes.first == SealedForm.marker else { return bytes }
    return try bytes.withUnsafeBufferPointer { bytes throws(SealDamage) in try open(bytes, name) }
  }

  /// The same of a column of text.
  package func opened(_ text: String, _ name: SealedName) throws(SealDamage) -> String {
    guard text.hasPrefix(SealedForm.textPrefix) else {
      guard !knows(text: text) else { throw .changed }
      return text
    }
    guard let sealed = Base64.decode(String(text.dropFirst(SealedForm.textPrefix.count))) else { throw .changed }
    let plain = try sealed.withUnsafeBufferPointer { sealed throws(SealDamage) in try open(sealed, name) }
    return String(decoding: plain, as: UTF8.self)
  }

  /// Whether a text seems to be sealed and has lost its mark. Texts for people have spaces.
  private func knows(text: String) -> Bool {
    guard canSeal, text.utf8.count > SealedForm.chunkRoom, !text.utf8.contains(UInt8(ascii: " ")) else { return false }
    return [text, String(text.dropFirst())].contains { Base64.decode($0).map { knows($0) } ?? false }
  }

  /// The sealed form of a text.
  package func seal(_ text: String, _ name: SealedName, in namespace: String) -> String {
    SealedForm.textPrefix + Base64.encode(seal(Array(text.utf8), name, in: namespace))
  }

  private func key(of sealed: UnsafeBufferPointer<UInt8>) throws(SealDamage) -> DataKey {
    guard let id = SealedForm.key(of: sealed) else { throw .changed }
    if let key = state.withLock({ $0.keys.all[id] }) { return key }
    try readAgain(id)
    let (key, erased, lost) = state.withLock { ($0.keys.all[id], $0.keys.erased[id], $0.keys.lost[id]) }
    if let key { return key }
    if let lost { throw setsAside ? .lost(key: lost.by) : .unreadable(Self.lack(of: lost)) }
    throw erased.map { .erased(namespace: $0) } ?? .noKey(id)
  }

  /// Another process may have made the key.
  private func readAgain(_ id: UInt32) throws(SealDamage) {
    guard !state.withLock({ $0.keys.knows(id) }) else { return }
    do throws(StoreError) { try readAgain() } catch { throw .unreadable(error) }
  }

  /// Takes the data keys that the store has now: another process may have made, replaced or erased some.
  package func readAgain() throws(StoreError) {
    guard let reader = state.withLock({ $0.reader }) else { return }
    // Another thread may store a key and take it meanwhile.
    var read: Int
    repeat {
      read = state.withLock { $0.changes }
    } while try load(try reader(), unlessChangedSince: read) == nil
  }
}

extension Vault {
  /// A document as it was before it was stored. One of a kind that is never stored in clear text was put there by somebody
  /// else if it is.
  package func opened(_ document: StoredDocument) throws(StoreError) -> StoredDocument {
    guard document.content.first == SealedForm.marker else {
      guard canSeal, document.kind.isNeverPlain else { return document }
      throw StoreError(
        kind: .corrupt,
        message:
          "The \(document.kind.rawValue) \(document.id) in the store is not encrypted, so Redial has not stored it.")
    }
    do throws(SealDamage) {
      let content = try opened(document.content, .document(document.kind, id: document.id))
      return StoredDocument(document.kind, id: document.id, content)
    } catch {
      throw error.error("the \(document.kind.rawValue) \(document.id) in the store")
    }
  }

  /// Documents as they were before they were stored. One that cannot be read is empty, so that it is missed and all others
  /// are not.
  ///
  /// - Throws: If it is not known whether one can be read.
  package func opened(all rows: [StoredDocument.Row]) throws(StoreError) -> [StoredDocument] {
    try rows.map { row throws(StoreError) in
      do throws(StoreError) {
        return try opened(row.checked())
      } catch {
        guard error.kind == .corrupt else { throw error }
        return StoredDocument(row.document.kind, id: row.document.id, [])
      }
    }
  }

  /// Throws if a document must not be stored without a key, and there is none.
  package func check(_ document: StoredDocument) throws(StoreError) {
    guard canSeal || !document.hasSecrets else { throw Self.refusal(of: "The \(document.kind.rawValue)") }
  }

  /// Throws if a value of the service must not be stored without a key, and there is none. What instances know each other
  /// by is no such value: they have to, and whoever reads it has the database.
  package func check(setting name: String) throws(StoreError) {
    guard canSeal || name != "webhookSecret" else { throw Self.refusal(of: "The secret that signs webhooks") }
  }

  /// A document as it is to be stored, if its kind is sealed. There must be a key for it.
  package func sealed(_ document: StoredDocument) -> StoredDocument {
    guard seals(document.kind), document.content.first != SealedForm.marker else { return document }
    let name = SealedName.document(document.kind, id: document.id)
    return StoredDocument(document.kind, id: document.id, seal(document.content, name, in: Self.service))
  }

  /// A value of the service as it was before it was stored.
  package func opened(setting name: String, _ value: String) throws(StoreError) -> String {
    do throws(SealDamage) {
      return try opened(value, .setting(name))
    } catch {
      throw error.error("the setting \(name) in the store")
    }
  }

  /// A value of the service as it is to be stored.
  package func sealed(setting name: String, _ value: String) -> String {
    seals(setting: name) ? seal(value, .setting(name), in: Self.service) : value
  }
}

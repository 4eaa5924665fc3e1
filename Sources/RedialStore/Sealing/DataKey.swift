internal import Glibc
package import RedialCore
package import RedialModel

/// The time of the machine's clock, for people who look at a key.
enum WallTime {
  static var now: Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
  }
}

/// The key that seals a namespace's values.
final class DataKey: Sendable {
  let id: UInt32
  let namespace: String
  /// 1 for a namespace's first key; new values are sealed by the key with the highest one.
  let generation: Int
  let cipher: GCMKey

  init(id: UInt32, namespace: String, generation: Int, _ key: [UInt8]) {
    (self.id, self.namespace, self.generation) = (id, namespace, generation)
    cipher = GCMKey(key)
  }
}

/// The data keys of a store.
struct DataKeys {
  private(set) var all: [UInt32: DataKey] = [:]
  /// The key that seals the new values of a namespace.
  private(set) var current: [String: DataKey] = [:]
  /// The namespaces of keys that were erased.
  private(set) var erased: [UInt32: String] = [:]
  /// The keys that cannot be unwrapped.
  private(set) var lost: [UInt32: StoredDataKey] = [:]
  /// The numbers of keys that are damaged, as far as they can be read, by the keys' documents.
  private(set) var damaged: [String: UInt32] = [:]
  /// The last generation of each namespace's keys.
  private var generations: [String: Int] = [:]

  /// Whether there is or was a key with a number.
  func knows(_ id: UInt32) -> Bool {
    all[id] != nil || erased[id] != nil || lost[id] != nil || damaged.values.contains(id)
  }

  /// Whether a key of a namespace was erased.
  func hasErased(_ namespace: String) -> Bool { erased.values.contains(namespace) }

  /// The highest generation of a namespace's keys; 0 if it never had one.
  func lastGeneration(of namespace: String) -> Int { generations[namespace] ?? 0 }

  /// Adds a key; nil for one that was erased, is damaged, or cannot be unwrapped.
  mutating func add(_ stored: StoredDataKey, _ key: DataKey?, isDamaged: Bool = false) {
    generations[stored.namespace] = max(generations[stored.namespace] ?? 0, stored.generation)
    guard let key else {
      let id = UInt32(stored.key)
      if isDamaged {
        damaged[StoredDataKey.id(stored.namespace, stored.generation)] = id
      } else if stored.erasedAt == nil {
        lost[id] = stored
      } else {
        erased[id] = stored.namespace
      }
      return
    }
    all[key.id] = key
    guard stored.replacedAt == nil, key.generation > current[key.namespace]?.generation ?? 0 else { return }
    current[key.namespace] = key
  }

  /// Keeps keys that are no longer in the store, to open what was read before they went. Those that were erased go.
  mutating func keep(_ others: DataKeys) {
    for (id, key) in others.all where !knows(id) { all[id] = key }
  }

  mutating func remove(_ stored: StoredDataKey) {
    all[UInt32(stored.key)] = nil
    current[stored.namespace] = all.values.filter { $0.namespace == stored.namespace }.max {
      $0.generation < $1.generation
    }
    // It is not in the store, so its generation is free again, for the same key too.
    if generations[stored.namespace] == stored.generation { generations[stored.namespace] = stored.generation - 1 }
  }
}

/// A data key as the store has it, a document whose id is its namespace and its generation.
package struct StoredDataKey: StoredRecord, Hashable {
  /// The number that sealed values name.
  package var key = 0
  package var namespace = ""
  package var generation = 0
  /// The key itself, wrapped, in base 64; empty if it was erased.
  package var wrapped = ""
  /// The key that wraps it, by its fingerprint, or `command`.
  package var by = ""
  /// Of the key itself; empty if an earlier version has stored it.
  package var fingerprint = ""
  package var createdAt = Timestamp.epoch
  /// When a newer one took its place; it seals nothing from then on.
  package var replacedAt: Timestamp?
  /// When it was erased; nothing that it sealed can be read any more.
  package var erasedAt: Timestamp?

  package init() {}

  package static func fields<Visitor: FieldVisitor & ~Copyable>(
    _ visitor: inout Visitor, _ record: inout StoredDataKey
  ) throws(Visitor.Failure) {
    try visitor.visit("key", &record.key)
    try visitor.visit("namespace", &record.namespace)
    try visitor.visit("generation", &record.generation)
    try visitor.visit("wrapped", &record.wrapped)
    try visitor.visit("by", &record.by)
    try visitor.visit("fingerprint", &record.fingerprint)
    try visitor.visit("createdAt", &record.createdAt)
    try visitor.visit("erasedAt", &record.erasedAt)
    try visitor.visit("replacedAt", &record.replacedAt)
  }

  package var isComplete: Bool {
    UInt32(exactly: key) != nil && !namespace.isEmpty && generation > 0 && (wrapped.isEmpty == (erasedAt != nil))
  }

  /// The same as of a time when a newer one has taken its place, if it is in use.
  package var replaced: StoredDocument? {
    guard replacedAt == nil, erasedAt == nil else { return nil }
    var replaced = self
    replaced.replacedAt = WallTime.now
    return replaced.document
  }

  /// A data key without the key itself, if it is of a namespace and was not erased. Also one that is damaged.
  package static func erasure(_ document: StoredDocument, of namespace: Namespace) -> StoredDocument? {
    var erased = (try? Self(document)) ?? Self(unreadable: document)
    guard erased.namespace == namespace.name, erased.erasedAt == nil else { return nil }
    (erased.wrapped, erased.by, erased.fingerprint, erased.erasedAt) = ("", "", "", WallTime.now)
    return erased.document
  }

  /// A document that cannot be read, by its id: another key of the namespace gets another generation.
  init(unreadable document: StoredDocument) {
    let parts = document.id.split(separator: "@")
    (namespace, generation) = (parts.first.map(String.init) ?? "", parts.count == 2 ? Int(parts[1]) ?? 0 : 0)
    by = "that its damaged record named"
  }

  /// Whether a key is the one of this record.
  func isOf(_ key: DataKey) -> Bool { key.namespace == namespace && key.generation == generation }

  /// It as a document.
  package var document: StoredDocument { StoredDocument(.dataKey, id: Self.id(namespace, generation), bytes) }

  static func id(_ namespace: String, _ generation: Int) -> String { "\(namespace)@\(generation)" }

  /// Reads a document.
  package init(_ document: StoredDocument) throws(StoreError) {
    guard let record = StoredDataKey(document: document.content) else {
      throw StoreError(
        kind: .corrupt,
        message: "The data key \(document.id) in the store cannot be read. Restore the store from a backup.")
    }
    self = record
  }
}

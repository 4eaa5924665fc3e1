internal import RedialStore

/// The numbers by which tables name keys, as far as they are known, so that a key is rarely looked up.
///
/// A transaction may add keys to their table. If it is rolled back, the table has lost them, and this forgets them too.
struct NumberCache<Key: Hashable> {
  /// The maximum number of keys; all are forgotten when another comes, and are looked up again.
  private let limit: Int
  private var numbers: [Key: Int64] = [:]
  /// Keys that the current transaction has added.
  private var added: [Key] = []

  /// Knows nothing.
  init(limit: Int = .max) {
    self.limit = limit
  }

  /// The number of a key, if it is known.
  subscript(key: Key) -> Int64? { numbers[key] }

  /// A key was found in its table.
  mutating func remember(_ key: Key, _ number: Int64) {
    if numbers.count >= limit { numbers.removeAll(keepingCapacity: true) }
    numbers[key] = number
  }

  /// The current transaction has added a key to its table.
  mutating func add(_ key: Key, _ number: Int64) {
    remember(key, number)
    added.append(key)
  }

  /// The transaction is committed.
  mutating func didCommit() {
    added.removeAll(keepingCapacity: true)
  }

  /// The transaction is rolled back.
  mutating func didRollBack() {
    for key in added { numbers[key] = nil }
    added.removeAll(keepingCapacity: true)
  }
}

internal import RedialStore

/// Changes of counts that a transaction gathers and writes at its end. A count is named by two numbers.
struct GatheredChanges {
  private struct Key: Equatable {
    var first: Int64
    var second: Int64
  }

  /// A handful of entries; nearly all changes go to the first.
  private var changes: [(key: Key, count: Int64)] = []

  /// Adds to what a count changes by.
  mutating func gather(_ first: Int64, _ second: Int64, _ change: Int64) {
    let key = Key(first: first, second: second)
    if let index = changes.firstIndex(where: { $0.key == key }) {
      changes[index].count += change
    } else {
      changes.append((key, change))
    }
  }

  /// Calls `write` with each change that is not zero, in the order in which the counts first changed, and forgets
  /// all of them unless it throws.
  mutating func flush<Failure: Error>(
    _ write: (_ first: Int64, _ second: Int64, _ change: Int64) throws(Failure) -> Void
  ) throws(Failure) {
    for (key, count) in changes where count != 0 { try write(key.first, key.second, count) }
    forget()
  }

  /// Forgets the changes: the transaction is rolled back.
  mutating func forget() {
    changes.removeAll(keepingCapacity: true)
  }
}

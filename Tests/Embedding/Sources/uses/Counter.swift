import Synchronization

/// Counts attempts, from any thread.
final class Counter: Sendable {
  private let value = Atomic(0)

  var count: Int { value.load(ordering: .relaxed) }

  func next() -> Int { value.add(1, ordering: .relaxed).newValue }

  /// Fails so many times with an error, and answers which attempt it is from then on.
  func fail(_ times: Int, _ error: any Error) throws -> String {
    let number = next()
    if number <= times { throw error }
    return "attempt \(number)"
  }
}

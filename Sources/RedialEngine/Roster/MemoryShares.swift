/// How a bound on waiting calls in memory, or on the bytes of their bodies, is divided.
///
/// No target may take so much that due calls of others could not be loaded from the store. So targets that are down,
/// paused or slow share at most three quarters, however many they are and however large their calls are.
struct MemoryShares: Sendable {
  let bound: Int

  /// For calls that could also wait in the store. The last eighth is kept free for due calls that are there.
  var beforeReserve: Int { bound - bound / 8 }
  /// For the due calls of the first targets that need it: a half.
  var common: Int { bound / 2 }
  /// Divided equally among all targets with due calls: a quarter.
  var guaranteed: Int { bound / 4 }
  /// For all due calls together: three quarters.
  var due: Int { bound / 4 * 3 }

  /// Whether the eighth stays free.
  ///
  /// - Parameter used: What is occupied, with the call in question.
  func keepsReserve(_ used: Int) -> Bool { used <= beforeReserve }
}

internal import RedialStore

/// An attempt as the log has it: packed, with the bytes that its table gets too.
struct LoggedAttempt: Sendable {
  /// Its number, from 1.
  let number: Int64
  /// The attempt alone, as ``PackedAttempts``.
  let packed: [UInt8]

  /// An attempt that is to be logged; nil if it is too large for that.
  init?(_ attempt: StoredAttempt) {
    guard let packed = PackedAttempts.packed([attempt]) else { return nil }
    number = attempt.number
    self.packed = packed
  }

  /// An attempt that was logged; nil if its bytes are damaged.
  init?(packed: [UInt8]) {
    guard let attempts = try? PackedAttempts.attempts(in: packed), attempts.count == 1 else { return nil }
    number = attempts[0].number
    self.packed = packed
  }

  func stored() throws(AttemptDamage) -> StoredAttempt {
    let attempts = try PackedAttempts.attempts(in: packed)
    guard attempts.count == 1 else { throw AttemptDamage(reason: "its packed attempts are damaged", isBroken: true) }
    return attempts[0]
  }
}

internal import RedialModel

/// Whose turn it is to try a target that is down: that of the oldest call, or of one that is not like the last.
struct ProbeTurns: Sendable {
  private var isOfOldest = true
  private var last: CallLikeness?

  /// What the next probe is not to be like; nil if the oldest call is next.
  var toDifferFrom: CallLikeness? { isOfOldest ? nil : last }

  /// A call was chosen.
  mutating func add(_ call: CallSpec) {
    isOfOldest.toggle()
    last = CallLikeness(call)
  }
}

/// Equal for calls that a target cannot tell apart, but by their bodies.
struct CallLikeness: Sendable, Hashable {
  private let hash: Int

  init(_ call: CallSpec) {
    var hasher = Hasher()
    hasher.combine(call.method)
    hasher.combine(call.url)
    hasher.combine(call.credential)
    for field in call.headers { hasher.combine(field.value) }
    hash = hasher.finalize()
  }
}

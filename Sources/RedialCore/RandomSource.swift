/// A small, fast, seedable generator: SplitMix64 (Steele, Lea, Flood, "Fast
/// splittable pseudorandom number generators", OOPSLA 2014).
///
/// Not for secrets. Every jitter in Redial is drawn from such a value, so that a seed reproduces a run.
public struct RandomSource: RandomNumberGenerator, Sendable, Hashable {
  private var state: UInt64

  /// A generator whose whole sequence follows from `seed`.
  public init(seed: UInt64) {
    state = seed
  }

  /// The next 64 random bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

extension RandomNumberGenerator {
  /// A number drawn uniformly from [0, 1), with 53 random bits.
  public mutating func unitInterval() -> Double {
    Double(next() >> 11) * 0x1p-53
  }
}

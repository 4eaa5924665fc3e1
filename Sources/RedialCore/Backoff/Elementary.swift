/// The few elementary functions that the formulas need, without a C library, so that the module stays pure and gives
/// the same bits everywhere. The relative error is below 10^-14 for arguments that occur in waits.
package enum Elementary {
  /// A whole power, 1 or more, by repeated squaring; infinity on overflow.
  static func power(_ base: Double, _ exponent: Int) -> Double {
    var result = 1.0
    var square = base
    var left = max(0, exponent)
    while left > 0 {
      if left & 1 == 1 { result *= square }
      square *= square
      left >>= 1
    }
    return result
  }

  /// A real power of a base of 1 or more; exact if the exponent is whole.
  static func power(_ base: Double, _ exponent: Double) -> Double {
    if exponent >= 0, exponent < 64, exponent == exponent.rounded() { return power(base, Int(exponent)) }
    guard base > 0, exponent.isFinite, base.isFinite else { return base > 1 ? .infinity : 0 }
    return exp2(exponent * log2(base))
  }

  /// 2 to the power of x: the whole part goes into the exponent, the rest is a Taylor series.
  static func exp2(_ x: Double) -> Double {
    guard x < 1024 else { return x.isNaN ? 0 : .infinity }
    guard x > -1000 else { return 0 }
    let whole = x.rounded(.down)
    let y = (x - whole) * 0.693_147_180_559_945_309
    var term = 1.0
    var sum = 1.0
    for n in 1...20 {
      term *= y / Double(n)
      sum += term
    }
    return sum * Double(sign: .plus, exponent: Int(whole), significand: 1)
  }

  /// The binary logarithm of a positive, finite number, by the series of the inverse hyperbolic tangent.
  package static func log2(_ x: Double) -> Double {
    guard x > 0, x.isFinite else { return 0 }
    var significand = x.significand
    var exponent = Double(x.exponent)
    // Nearer to 1 the series is shorter.
    if significand > 1.414_213_562_373_095 {
      significand /= 2
      exponent += 1
    }
    let z = (significand - 1) / (significand + 1)
    var power = z
    var sum = 0.0
    for n in 0..<14 {
      sum += power / Double(2 * n + 1)
      power *= z * z
    }
    return exponent + 2 * sum * 1.442_695_040_888_963_407
  }

  /// The hyperbolic tangent of a number that is not negative.
  static func tanh(_ x: Double) -> Double {
    1 - 2 / (exp2(2 * x * 1.442_695_040_888_963_407) + 1)
  }
}

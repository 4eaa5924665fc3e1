/// An amount of retry tokens: 0...1000, in whole thousandths, so that sums are exact.
///
/// The range and the three decimal places are those of gRFC A6, "gRPC retry design", section "Throttling Retry
/// Attempts and Hedged RPCs".
public struct Tokens: Sendable, Hashable, Comparable, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
  /// The amount in thousandths of a token, 0...1 000 000.
  public let thousandths: Int

  /// The maximum amount of a bucket.
  public static let most = Tokens(thousandths: 1_000_000)

  /// That many tokens, clamped to 0...1000 and cut to three decimal places; 0 if it is not a number.
  public init(_ tokens: Double) {
    let clamped = tokens > 0 ? min(tokens, 1000) : 0
    // A tiny amount is added before the cut: in binary, 1.001 is 1000.999… thousandths.
    self.init(thousandths: Int((clamped * 1000 + 1e-6).rounded(.down)))
  }

  /// Clamped to the range.
  init(thousandths: Int) {
    self.thousandths = min(max(0, thousandths), 1_000_000)
  }

  /// A whole number of tokens.
  public init(integerLiteral tokens: Int) {
    self.init(Double(tokens))
  }

  /// A number of tokens with up to three decimal places.
  public init(floatLiteral tokens: Double) {
    self.init(tokens)
  }

  /// Whether the first amount is the smaller one.
  public static func < (a: Tokens, b: Tokens) -> Bool {
    a.thousandths < b.thousandths
  }

  /// The sum, at most ``most``.
  static func + (a: Tokens, b: Tokens) -> Tokens {
    Tokens(thousandths: a.thousandths + b.thousandths)
  }

  /// The difference, at least 0.
  static func - (a: Tokens, b: Tokens) -> Tokens {
    Tokens(thousandths: a.thousandths - b.thousandths)
  }

  /// The part of the first amount that fits under the second.
  func capped(at capacity: Tokens) -> Tokens {
    min(self, capacity)
  }
}

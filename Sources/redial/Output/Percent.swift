/// Shares for people.
enum Percent {
  /// A part of a whole; 100 % only if it is all, and 0 % only if it is none.
  static func text(_ part: Int, of whole: Int) -> String {
    guard whole > 0 else { return "100 %" }
    return text(Double(part) / Double(whole))
  }

  /// A share of 0...1; 100 % only if it is 1, and 0 % only if it is 0.
  static func text(_ share: Double) -> String {
    guard share < 1 else { return "100 %" }
    guard share > 0 else { return "0 %" }
    let tenths = Int(share * 1000)
    return tenths == 0 ? "less than 0.1 %" : "\(tenths / 10).\(tenths % 10) %"
  }
}

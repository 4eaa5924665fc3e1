extension Duration {
  /// The duration to three digits, in a suitable unit: `812 µs`, `12.4 ms`, `1.5 s`, `7.25 min`, `30 h`.
  var forPeople: String {
    let seconds = inSeconds
    let (value, unit): (Double, String) =
      switch seconds {
      case ..<0.001: (seconds * 1_000_000, "µs")
      case ..<1: (seconds * 1000, "ms")
      case ..<120: (seconds, "s")
      case ..<7200: (seconds / 60, "min")
      default: (seconds / 3600, "h")
      }
    let digits = value < 10 ? 100.0 : value < 100 ? 10 : 1
    let rounded = (value * digits).rounded() / digits
    let isWhole = rounded == rounded.rounded() && rounded < 1e15
    return isWhole ? "\(Int64(rounded)) \(unit)" : "\(rounded) \(unit)"
  }
}

internal import RedialCore

extension Duration {
  /// The duration with as many digits as people need: `740ms`, `5.2s`, `3m20s`, `2h5m`.
  package var roughly: String {
    let seconds = inSeconds
    if seconds < 1 { return DurationText.format(.microseconds(Int64((seconds * 1000).rounded()) * 1000)) }
    if seconds < 60 { return DurationText.format(.milliseconds(Int64((seconds * 10).rounded()) * 100)) }
    let whole = Int64(seconds.rounded())
    let units: [(name: String, length: Int64, count: Int64)] = [
      ("d", 86_400, .max), ("h", 3600, 24), ("m", 60, 60), ("s", 1, 60),
    ]
    let parts = units.map { (whole / $0.length % $0.count, $0.name) }.drop { $0.0 == 0 }.prefix(2)
    return parts.filter { $0.0 > 0 }.map { "\($0.0)\($0.1)" }.joined()
  }
}

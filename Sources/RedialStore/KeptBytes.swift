/// How many ended calls have to go so that those that are kept take no more bytes than allowed, in a store whose files do not
/// become smaller by that: removed rows leave room in the tables, which new rows use.
///
/// What calls take is known by samples of them. Each sample is small, and single calls may be a thousand times as large as most;
/// so their mean is smoothed, and the first samples count as much as there are.
package struct KeptBytes: Sendable, Hashable {
  /// The share that a sample has in the mean, once there are many.
  static let smoothing = 0.1
  /// So many samples are needed.
  static let fewest = 5.0

  private var mean = 0.0
  private var samples = 0.0

  /// Nothing is known yet.
  package init() {}

  /// Bytes of a call; nil if nothing is known.
  var bytesPerCall: Double? { samples > 0 ? mean : nil }

  /// Adds a sample.
  ///
  /// - Parameters:
  ///   - bytes: What its calls take together.
  ///   - calls: How many it has; a sample without calls says nothing.
  package mutating func add(bytes: Int, calls: Int) {
    guard calls > 0 else { return }
    samples += 1
    mean += (Double(bytes) / Double(calls) - mean) * max(Self.smoothing, 1 / samples)
  }

  /// Whether there are enough samples to remove something because of them.
  package var isKnown: Bool { samples >= Self.fewest }

  /// How many calls have to go.
  ///
  /// - Parameters:
  ///   - limit: How many bytes all may take.
  ///   - calls: How many there are.
  ///   - bytes: What the files take: calls cannot take more, whatever the samples say.
  package func excess(over limit: Int, of calls: Int, in bytes: Int) -> Int {
    guard isKnown, mean > 0, bytes > limit else { return 0 }
    let most = Double(limit) / min(mean, Double(bytes) / Double(max(1, calls)))
    return most >= Double(calls) ? 0 : calls - Int(most)
  }
}

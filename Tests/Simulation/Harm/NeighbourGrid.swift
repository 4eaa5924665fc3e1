@testable internal import RedialCore
@testable internal import VirtualTime
internal import RedialModel

/// Origins that many callers share, drawn at random: some of their paths are dead, hang or are slow for good, and the callers
/// of the others come and go. What can succeed may not be slower than without any protection.
struct NeighbourGrid {
  /// Time to success of what can succeed, by call, with some protections and without any.
  struct Row {
    let origin: SharedOrigin
    let protections: Set<Protection>
    let with: [Double]
    let without: [Double]
    let openings: Int

    /// How many times as long as without protection it takes at p50, p90 and p99.
    var factors: [Double] {
      let (with, without) = (with.sorted(), without.sorted())
      return NeighbourGrid.quantiles.map { quantile in
        max(0, HarmGrid.quantile(with, quantile) - HarmGrid.slack) / HarmGrid.quantile(without, quantile)
      }
    }

    /// How much later any call is than without protection, in seconds.
    var latest: Double { zip(with, without).map { $0 - $1 }.max() ?? 0 }
    /// When that call came, in seconds from the begin.
    private var latestAt: Double {
      let calls = origin.calls.indices.filter(origin.isAwaited)
      return zip(calls, zip(with, without)).max { $0.1.0 - $0.1.1 < $1.1.0 - $1.1.1 }.map { origin.calls[$0.0].at } ?? 0
    }
    var isHarmed: Bool {
      !(zip(factors, NeighbourGrid.allowed).allSatisfy { $0 <= $1 } && latest <= NeighbourGrid.latest + origin.longest)
    }

    var text: String {
      "\(NeighbourGrid.name(protections)), \(origin): \(HarmGrid.times(with.sorted())) s, unprotected \(HarmGrid.times(without.sorted())) s, at most "
        + "\((latest * 1000).rounded() / 1000) s later, after \(latestAt) s, \(openings) openings"
    }
  }

  /// How much later a call may be, in seconds, because of a sick neighbour, besides the answer to the one before it.
  static let latest = 2.0

  private static let quantiles = [0.5, 0.9, 0.99]
  private static let allowed = [1.1, 1.25, 1.25]

  private static func name(_ protections: Set<Protection>) -> String {
    protections == Protection.defaults
      ? "all" : Protection.allCases.filter(protections.contains).map(\.rawValue).joined(separator: ", ")
  }

  /// A row of the table: some protections, over all origins.
  static func text(_ rows: [Row]) -> String {
    guard let first = rows.first else { return "" }
    func rounded(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }
    let factors = (0..<3).map { index -> String in
      let all = rows.map { $0.factors[index] }.sorted()
      return "\(rounded(HarmGrid.quantile(all, 0.5))), \(rounded(all.last ?? 0))"
    }
    return "| \(name(first.protections)) | \(rows.count { $0.openings > 0 }) | \(factors.joined(separator: " | ")) | "
      + "\(rounded(rows.map(\.latest).max() ?? 0)) s | \(rows.count(where: \.isHarmed)) |"
  }

  /// An origin with each of these protections.
  static func rows(seed: UInt64, _ variants: [Set<Protection>]) -> [Row] {
    let origin = SharedOrigin(seed: seed)
    func run(_ protections: Set<Protection>) -> (times: [Double], openings: Int) {
      var run = TargetRun(origin, Protection.settings(protections), seed: 1)
      run.run()
      return (
        origin.calls.indices.filter(origin.isAwaited).map { run.successes[$0] - origin.calls[$0].at }, run.openings
      )
    }
    let without = run([]).times
    return variants.map { protections in
      let with = run(protections)
      return Row(
        origin: origin, protections: protections, with: with.times, without: without, openings: with.openings)
    }
  }
}

/// An origin some of whose paths fail for good.
struct SharedOrigin: RunLoad, CustomStringConvertible {
  /// How a path answers.
  private enum Health: CaseIterable {
    case well, dead, hangs, slow
  }

  /// The paths, by number.
  private let paths: [Health]
  private let callers: Int
  private let latency: Double
  /// How long the slowest answer takes, in seconds.
  var longest: Double { latency * Self.slowness }
  private static let slowness = 20.0
  private let seed: UInt64
  private(set) var calls: [RunCall] = []
  /// The path of each call.
  private var pathOf: [Int] = []
  let attemptTimeout = Duration.seconds(10)

  var description: String {
    let counts = Health.allCases.map { health in "\(paths.count { $0 == health }) \(health)" }.joined(separator: ", ")
    return "\(callers) callers of paths of which \(counts), \(calls.count) calls, "
      + "\((latency * 1e4).rounded() / 10) ms, seed \(seed)"
  }

  init(seed: UInt64) {
    var random = RandomSource(seed: seed &* 0x9e37_79b9_7f4a_7c15 ^ 0x6e65_6967)
    self.seed = seed
    callers = Int(random.between(2, 200))
    latency = random.between(0.001, 0.2)
    var paths: [Health] = [.well, random.pick([.dead, .dead, .hangs])]
    for _ in 0..<random.pick(0...6) { paths.append(random.pick([.well, .well, .dead, .hangs, .slow])) }
    self.paths = paths
    var planned: [(at: Double, path: Int, caller: Int)] = []
    for caller in 0..<callers {
      // Each comes and goes once or several times, for moments or minutes, in half an hour.
      let path = caller < paths.count ? caller : random.pick(0...(paths.count - 1))
      let isWell = paths[path] == .well || paths[path] == .slow
      for _ in 0..<random.pick(1...4) {
        let begin = random.unitInterval() * 1800
        let rate = random.between(0.005, isWell ? 5 : 2)
        // What fails for good goes on by its backoff: a few dozen calls of that are enough.
        let most = isWell ? 100 : random.pick([5, 40])
        let times = random.arrivals(rate, from: begin) { number, time in number < most && time < begin + 300 }
        planned += times.map { ($0, path, caller) }
      }
    }
    planned.sort { $0.at < $1.at }
    for (time, path, caller) in planned.prefix(6000) {
      // Letters, because a part of a path with a digit in it counts as an id.
      let name = String(UnicodeScalar(UInt8(97 + path)))
      calls.append(
        RunCall(
          at: time, path: "/\(name)/\(calls.count)",
          headers: [HeaderField("Authorization", "Bearer \(caller)")]))
      pathOf.append(path)
    }
  }

  func isAwaited(_ call: Int) -> Bool { paths[pathOf[call]] == .well || paths[pathOf[call]] == .slow }

  func answer(_ call: Int, attempt: Int, at now: Timestamp, timeout: Duration) -> ModelTarget.Answer {
    let usual = Duration.microseconds(Int64(latency * 1e6))
    return switch paths[pathOf[call]] {
    case .well: ModelTarget.Answer(outcome: .answered, status: 200, latency: usual)
    case .slow: ModelTarget.Answer(outcome: .answered, status: 200, latency: usual * Int(Self.slowness))
    case .dead: ModelTarget.Answer(outcome: .answered, status: 503, latency: usual)
    case .hangs: ModelTarget.Answer(outcome: .maybeSent, status: 0, latency: timeout)
    }
  }
}

internal import RedialCore
@testable internal import RedialEngine
@testable internal import RedialModel

/// In every tenth run: more targets that never answer than there are slots, and one healthy target.
struct Crowd {
  /// A client's submission, and its time.
  struct Submission {
    var at: Timestamp
    /// The number of a target that hangs; nil for the healthy one.
    var hanging: Int?
  }

  let hanging: [SimulatedNetwork.Target]
  let well: SimulatedNetwork.Target
  private(set) var submissions: [Submission] = []
  private var random: RandomSource

  var targets: [SimulatedNetwork.Target] { hanging + [well] }

  /// Draws a crowd, and gives the engine settings that leave space for the healthy target; nil for a run without one.
  init?(seed: UInt64, _ settings: inout EngineSettings) {
    random = RandomSource(seed: seed ^ 0x63_726f_7764)
    settings.unprovenShare = random.pick([0.5, 0.5, 1])
    guard random.chance(0.1) else { return nil }
    settings.unprovenShare = 0.5
    settings.maxInFlight = random.pick(40...80)
    settings.target.maxInFlight = random.pick(1...3)
    settings.maxHeld = 400
    settings.maxHeldBytes = 1 << 20
    settings.maxUnfinished = 10_000
    settings.maxTargets = 200
    let sharesOrigin = settings.maxConnectionsPerOrigin < 256
    if sharesOrigin { settings.maxConnectionsPerOrigin = 20 }
    let spaces = random.pick(1...NamespaceWatch.names.count)
    var targets: [SimulatedNetwork.Target] = []
    for number in 0..<random.pick(20...50) {
      let space = NamespaceWatch.names[random.pick(0...spaces - 1)]
      var target = SimulatedNetwork.Target(
        key: TargetKey("http://hang\(number)", in: space), latency: 1...20, failureRate: 0, outages: [],
        sharesOrigin: sharesOrigin)
      target.hangs = true
      targets.append(target)
    }
    hanging = targets
    let space = NamespaceWatch.names[random.pick(0...spaces - 1)]
    well = SimulatedNetwork.Target(
      key: TargetKey("http://well", in: space), latency: 1...20, failureRate: 0, outages: [],
      sharesOrigin: sharesOrigin)
  }

  /// Plans the submissions within a time: to the targets that hang in waves, to the healthy one all the time.
  mutating func plan(from start: Timestamp, for length: Duration) {
    func time(_ share: Double) -> Timestamp { start + .microseconds(Int64(share * length.inSeconds * 1e6)) }
    for _ in 0..<random.pick(1...2) {
      let wave = time(random.unitInterval() * 0.7)
      for index in hanging.indices {
        for _ in 0..<random.pick(0...4) {
          submissions.append(Submission(at: wave + random.duration(0...500), hanging: index))
        }
      }
      for _ in 0..<random.pick(10...40) {
        submissions.append(Submission(at: wave + random.duration(0...15_000), hanging: nil))
      }
    }
    for _ in 0..<random.pick(10...40) { submissions.append(Submission(at: time(random.unitInterval()), hanging: nil)) }
  }

  /// A submission; some deadlines are before the attempt's timeout, and some receivers of webhooks hang.
  mutating func descriptor(_ submission: Submission) -> CallDescriptor {
    let target = submission.hanging.map { hanging[$0] } ?? well
    var policy = RetryPolicy.service
    policy.maxAttempts = random.pick(1...4)
    policy.deadline = random.chance(0.5) ? random.duration(300...5000) : .seconds(86_400)
    policy.attemptTimeout = random.duration(3000...10_000)
    policy.backoff = Backoff(initial: random.duration(10...2000), multiplier: 2, maximum: .seconds(15))
    policy.retryOn.network = .always
    let receiver = random.pick(hanging)
    let callback = random.chance(0.5) ? Callback(url: receiver.url) : nil
    let spec = CallSpec(
      url: target.url, method: "POST", target: target.key, policy: policy, captureLimit: 100
    ) { $0.callback = callback }
    return CallDescriptor(spec: spec, body: [], start: .after(.zero))
  }
}

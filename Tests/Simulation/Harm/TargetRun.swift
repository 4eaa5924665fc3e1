@testable internal import RedialCore
@testable internal import RedialEngine
@testable internal import RedialModel

/// Calls to one target in virtual time, by the real engine, with a store that commits at once and holds nothing back.
struct TargetRun {
  private enum Event {
    case call
    case ended(CallID, number: Int, AttemptResult)
    case wake
  }

  private let target: DrawnTarget
  private var engine: Engine
  private var agenda = Agenda<Event>()
  private var now = World.start
  private var wakeAt: Timestamp?
  private var arrivals: RandomSource
  private let calls: Int
  /// Whether the calls that never succeed are not submitted.
  private let isAlone: Bool
  private var ids: [CallID: Int] = [:]
  private var submittedAt: [Timestamp] = []
  /// In seconds, from the submission on; infinite for a call without success.
  private(set) var times: [Double]
  private(set) var attempts = 0
  private(set) var openings = 0
  /// How often a limit of the pace began.
  private(set) var limits = 0
  private var isPaced = false

  private static let key: TargetKey = "http://target.example"
  private static let policy = RetryPolicy(
    maxAttempts: .max, deadline: .seconds(86_400), attemptTimeout: .seconds(5),
    backoff: RetryPolicy.service.backoff)

  /// - Parameters:
  ///   - settings: The engine's, as far as they protect a target.
  ///   - isAlone: Whether the calls that never succeed are not submitted.
  ///   - seed: For the jitter of the backoff.
  init(_ target: DrawnTarget, calls: Int, _ settings: EngineSettings, isAlone: Bool = false, seed: UInt64) {
    self.target = target
    self.calls = calls
    self.isAlone = isAlone
    times = Array(repeating: .infinity, count: calls)
    arrivals = RandomSource(seed: target.seed ^ 0x6361_6c6c)
    var settings = settings
    if case .callers = target.pattern {
      // The slots are what they share.
    } else {
      // Nothing waits for a slot that a target without a limit could use.
      let slots = target.rate * (target.latency * 10 + 5) * 10
      settings.maxInFlightPerTarget = max(64, Int(slots))
      settings.maxInFlight = max(settings.maxInFlight, 4 * settings.maxInFlightPerTarget)
    }
    // Nothing waits in the store.
    settings.holdWindow = .seconds(86_400)
    settings.maxHeld = 10_000_000
    settings.maxReadyPerTarget = 5_000_000
    settings.maxParkedPerTarget = 5_000_000
    settings.maxHeldBytes = 1 << 40
    engine = Engine(settings: settings, seed: seed)
    turn([.recovered(RecoveredState())])
    scheduleCall()
  }

  /// Runs until all calls that can succeed have succeeded, or for a time after the last has come.
  mutating func run() {
    let hopeless = (0..<calls).count { target.isHopeless($0) }
    var end = Timestamp.distantFuture
    while succeeded < calls - hopeless, let (time, event) = agenda.next(), time < end {
      now = max(now, time)
      switch event {
      case .call:
        submit()
        if submittedAt.count == calls { end = now + Self.patience }
      case .ended(let id, let number, let result):
        if result.status == 200, let call = ids[id] {
          succeeded += 1
          times[call] = (now - submittedAt[call]).inSeconds
        }
        turn([.attemptEnded(id, number: number, result)])
      case .wake:
        guard let wake = wakeAt, wake <= now else { continue }
        turn([])
      }
    }
  }

  private var succeeded = 0
  /// Longer than any call here needs.
  private static let patience = Duration.seconds(3600)

  private mutating func scheduleCall() {
    let seconds = -Elementary.log2(1 - arrivals.unitInterval()) * 0.693_147_180_559_945_3 / target.rate
    agenda.add(.call, at: now + .microseconds(Int64(seconds * 1e6)))
  }

  private mutating func submit() {
    submittedAt.append(now)
    defer { if submittedAt.count < calls { scheduleCall() } }
    if isAlone, target.isHopeless(submittedAt.count - 1) { return }
    let spec = spec(of: submittedAt.count - 1)
    turn([
      .submit(
        CallDescriptor(spec: spec, body: [], start: .after(.zero)),
        ReplyToken(rawValue: UInt64(submittedAt.count)))
    ])
  }

  private func spec(of call: Int) -> CallSpec {
    var path = "/orders/\(call)"
    var headers: [HeaderField] = []
    var labels: [CallSpec.Label] = []
    if case .callers(_, let mark) = target.pattern {
      // Letters, because a part of a path with a digit in it counts as an id.
      let caller = target.caller(of: call).map { String(repeating: "c", count: $0 + 1) } ?? "other"
      switch mark {
      case .path: path = "/\(caller)/\(call)"
      case .credential: headers = [HeaderField("Authorization", "Bearer \(caller)")]
      case .label: labels = [CallSpec.Label(name: "tenant", value: caller)]
      }
    }
    return CallSpec(
      url: Self.key.bare + path, method: "POST", headers: headers, target: Self.key, policy: Self.policy,
      labels: labels, captureLimit: 100)
  }

  private mutating func turn(_ events: [EngineEvent]) {
    var events = events
    repeat {
      let effects = engine.handle(events, at: now)
      events = []
      perform(effects.actions)
      for request in effects.store {
        switch request.body {
        case .commit(_, let then): perform(then)
        case .barrier: events.append(.storeWritten(epoch: request.epoch))
        default: break
        }
      }
      wakeAt = effects.wakeAt
    } while !events.isEmpty
    if let wakeAt { agenda.add(.wake, at: max(wakeAt, now)) }
    let isPaced = engine.roster.place(of: Self.key).map { engine.roster.targets[$0].isPaced } ?? false
    if isPaced, !self.isPaced { limits += 1 }
    self.isPaced = isPaced
  }

  private mutating func perform(_ actions: [Action]) {
    for case .reply(.submission(let token, let answer)) in actions {
      guard case .accepted(let record) = answer else { fatalError("a call is refused: \(answer)") }
      ids[record.id] = Int(token.rawValue) - 1
    }
    for action in actions {
      switch action {
      case .notice(.breakerOpened): openings += 1
      case .start(let start): begin(start)
      default: break
      }
    }
  }

  private mutating func begin(_ start: AttemptStart) {
    attempts += 1
    guard let call = ids[start.call.id] else { fatalError("an attempt of an unknown call") }
    let answer = target.answer(call, attempt: start.number, at: (now - World.start).inSeconds)
    let timeout = start.timeout
    let took = answer.after.map { Duration.microseconds(Int64($0 * 1e6)) } ?? timeout
    var result: AttemptResult
    if let status = answer.status, took < timeout {
      result = AttemptResult(outcome: .answered, status: status, duration: took)
      result.response = CapturedResponse(head: HeaderBlock(bytes: []), body: [], truncated: false)
    } else {
      result = AttemptResult(outcome: .maybeSent, status: nil, duration: timeout)
      result.failure = AttemptFailure(code: AttemptFailure.timeout, message: "")
    }
    agenda.add(.ended(start.call.id, number: start.number, result), at: now + min(took, timeout))
  }
}

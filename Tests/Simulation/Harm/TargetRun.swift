@testable internal import RedialCore
@testable internal import RedialEngine
@testable internal import VirtualTime
@testable internal import RedialModel

/// Calls to some targets in virtual time, by the real engine, with a store that commits at once and holds nothing back.
struct TargetRun<Load: RunLoad> {
  private enum Event {
    case call
    case ended(CallID, number: Int, AttemptResult)
  }

  private var load: Load
  private let keys: [TargetKey]
  private var service: VirtualService
  private var agenda = Agenda<Event>()
  private var now = World.start
  private var submitted = 0
  private var ids: [CallID: Int] = [:]
  /// When each call succeeded, in seconds from the begin; infinite for one that did not.
  private(set) var successes: [Double]
  /// The attempts that failed: when they ended, in seconds from the begin, and their calls.
  private(set) var failures: [(at: Double, call: Int)] = []
  private(set) var openings = 0
  /// How often a limit of the first target's pace began.
  private(set) var limits = 0
  private var awaited: Int

  /// - Parameters:
  ///   - settings: The engine's, as far as they protect a target.
  ///   - seed: For the jitter of the backoff.
  init(_ load: Load, _ settings: EngineSettings, seed: UInt64) {
    self.load = load
    keys = (0...(load.calls.map(\.target).max() ?? 0)).map { "http://target\($0).example" }
    successes = Array(repeating: .infinity, count: load.calls.count)
    awaited = load.calls.indices.count(where: load.isAwaited)
    var settings = settings
    // Nothing waits for a connection, or in the store.
    settings.maxConnectionsPerOrigin = settings.maxInFlight
    settings.holdWindow = .seconds(86_400)
    settings.maxHeld = 10_000_000
    settings.maxReadyPerTarget = 5_000_000
    settings.maxParkedPerTarget = 5_000_000
    settings.maxHeldBytes = 1 << 40
    service = VirtualService(settings, seed: seed)
    step([.recovered(RecoveredState())])
    scheduleCall()
  }

  /// Runs until all awaited calls have succeeded, or for a time after the last call has come.
  mutating func run() {
    var end = Timestamp.distantFuture
    while awaited > 0, let time = [agenda.first, service.wakeAt].compactMap({ $0 }).min(), time < end {
      now = max(now, time)
      guard agenda.first == time, let (_, event) = agenda.next() else {
        step([])
        continue
      }
      switch event {
      case .call:
        submit()
        if submitted == load.calls.count { end = now + .seconds(Self.patience) }
      case .ended(let id, let number, let result):
        if let call = ids[id] { count(result, of: call) }
        step([.attemptEnded(id, number: number, result)])
      }
    }
  }

  /// Longer than any call here needs, in seconds.
  private static var patience: Int { 3600 }

  private mutating func count(_ result: AttemptResult, of call: Int) {
    let time = (now - World.start).inSeconds
    guard result.status == 200 else { return failures.append((time, call)) }
    successes[call] = time
    if load.isAwaited(call) { awaited -= 1 }
  }

  private mutating func scheduleCall() {
    guard submitted < load.calls.count else { return }
    agenda.add(.call, at: World.start + .microseconds(Int64(load.calls[submitted].at * 1e6)))
  }

  private mutating func submit() {
    let call = load.calls[submitted]
    let key = keys[call.target]
    let policy = RetryPolicy(
      maxAttempts: .max, deadline: .seconds(86_400), attemptTimeout: load.attemptTimeout,
      backoff: RetryPolicy.service.backoff)
    let spec = CallSpec(
      url: key.bare + call.path, method: "POST", headers: call.headers, target: key, policy: policy, captureLimit: 100
    ) { $0.labels = call.labels }
    submitted += 1
    step([
      .submit(CallDescriptor(spec: spec, body: [], start: .after(.zero)), ReplyToken(rawValue: UInt64(submitted)))
    ])
    scheduleCall()
  }

  private mutating func step(_ events: [EngineEvent]) {
    let actions = service.step(events, at: now).actions
    for case .reply(.submission(let token, let answer)) in actions {
      guard case .accepted(let record) = answer else { fatalError("a call is refused: \(answer)") }
      ids[record.id] = Int(token.rawValue) - 1
    }
    for action in actions {
      switch action {
      case .notice(.breakerOpened): openings += 1
      case .notice(.paceLimited(target: keys[0], rate: _, delivered: _)): limits += 1
      case .start(let start): begin(start)
      default: break
      }
    }
  }

  private mutating func begin(_ start: AttemptStart) {
    guard let call = ids[start.call.id] else { fatalError("an attempt of an unknown call") }
    let result = load.answer(call, attempt: start.number, at: now, timeout: start.timeout).result(within: start.timeout)
    agenda.add(.ended(start.call.id, number: start.number, result), at: now + result.duration)
  }
}

internal import RedialCore
@testable internal import RedialEngine
internal import RedialModel
internal import Synchronization

/// What an engine has last reported.
final class Answer: Sendable {
  private let report = Mutex<EngineReport?>(nil)

  var latest: EngineReport? {
    get { report.withLock { $0 } }
    set { report.withLock { $0 = newValue } }
  }
}

/// One process of a run, with its engine, its lanes and its clock.
final class Instance {
  let number: Int
  let settings: EngineSettings
  let clock: SimulatedClock
  var engine: Engine
  /// The number of the engine; events for an earlier one are void.
  var life = 0
  var isUp = false
  var isDraining = false
  var inbox: [EngineEvent] = []
  var stepIsPlanned = false
  var wakePlanned: Timestamp?
  var stepsAtOnce = 0
  var lane: SimulatedStoreLane
  var network = SimulatedNetwork()
  var breakers: BreakerWatch
  var watch: TargetWatch
  var namespaces = NamespaceWatch()
  var slots: SlotWatch
  var shares = ShareWatch()
  var suspects = SuspectWatch()
  let well: TargetKey?
  var waiting: [UInt64: World.Asked] = [:]
  /// Submissions that were forwarded and have no answer, and those that had none and may be stored.
  var forwarded: [UInt64: CallDescriptor] = [:]
  var inDoubt: Set<UInt64> = []
  let answer = Answer()
  var hadUnnoticedFault = false
  /// The session that the store knew before the process died.
  var lastSession: Int64?

  /// Commands that wait in the engine until it has written to the store what had failed there.
  var putOff: [EngineEvent] {
    (engine.desk.trouble?.deferred ?? []).filter { event in
      switch event {
      case .command, .targetCommand: true
      default: false
      }
    }
  }

  /// Until when it stands still, as a process does whose machine is suspended; and when it last continued.
  var stalledUntil: Timestamp?
  var wentOnAt = Timestamp.epoch
  /// When it cannot reach the store, and whether its requests then fail or are not answered.
  var cuts: [Range<Timestamp>] = []
  var cutsHang = false

  init(number: Int, settings: EngineSettings, clock: SimulatedClock, well: TargetKey?) {
    self.well = well
    slots = SlotWatch(well: well)
    self.number = number
    self.settings = settings
    self.clock = clock
    engine = Engine(settings: settings, seed: 0)
    breakers = BreakerWatch(settings: settings, recovered: RecoveredState())
    watch = TargetWatch(settings: settings, recovered: RecoveredState())
    lane = SimulatedStoreLane(isShared: settings.leases != nil)
  }

  /// Starts again, with the state of the store.
  func start(seed: UInt64, _ state: RecoveredState) {
    breakers = BreakerWatch(settings: settings, recovered: state)
    watch = TargetWatch(settings: settings, recovered: state)
    namespaces = NamespaceWatch()
    slots = SlotWatch(well: well)
    shares = ShareWatch()
    suspects = SuspectWatch()
    engine = Engine(settings: settings, seed: seed)
    isUp = true
    isDraining = false
    hadUnnoticedFault = false
  }

  /// The process has died.
  func stop() {
    isUp = false
    life += 1
    lane = SimulatedStoreLane(isShared: settings.leases != nil)
    network.drop()
    inbox = []
    waiting = [:]
    (forwarded, inDoubt) = ([:], [])
    stepIsPlanned = false
    wakePlanned = nil
    stalledUntil = nil
  }

  /// Whether it may do things that it would not do if it knew the time: it stands still, or has not had a step since.
  func isExcused(at now: Timestamp) -> Bool { stalledUntil != nil || now - wentOnAt < .milliseconds(10) }
}

/// An instance's clock, which differs from others in time and in rate.
struct SimulatedClock {
  /// How far it is ahead.
  var offset = Duration.zero
  /// How much faster it is, in millionths.
  var drift: Int64 = 0

  /// Its time at a time of the run.
  func reading(at time: Timestamp) -> Timestamp {
    if drift == 0, offset == .zero { return time }
    let passed = (time - World.start).wholeMicroseconds
    return time + offset + .microseconds(passed * drift / 1_000_000)
  }

  /// The time of the run at which it shows a time, or a little later.
  func time(of reading: Timestamp) -> Timestamp {
    if drift == 0, offset == .zero { return reading }
    let shown = (reading - World.start - offset).wholeMicroseconds
    return World.start + .microseconds(shown * 1_000_000 / (1_000_000 + drift) + 1)
  }
}

internal import Dispatch
internal import RedialCore
internal import RedialEngine
internal import RedialLanes
internal import RedialModel
internal import Synchronization

/// The lane of the engine. It collects events, runs a step of the engine, passes its effects on, and wakes it at the
/// time that it requested.
///
/// `@unchecked Sendable`: all mutable state is used only on `queue`, which is serial.
final class EngineLane: @unchecked Sendable {
  private let queue = DispatchQueue(label: "redial.engine", qos: .userInitiated, attributes: .initiallyInactive)
  private var hasBegun = false
  private let mailbox = Mailbox<EngineEvent>()
  /// The events of the current step. Their memory is used again.
  private var batch: [EngineEvent] = []
  /// What clients have asked for before the first lease; nil if nobody waits for one.
  private var early: [EngineEvent]?
  /// Whether an event was left in the empty mailbox, and the lane was not woken yet.
  private let isToBeWoken = Atomic(false)
  private let clock: Clock
  private let perform: @Sendable (Effects) -> Void
  private var engine: Engine
  private var timer: (any DispatchSourceTimer)?
  /// When the timer fires; nil for never.
  private var armedFor: Timestamp?

  /// - Parameter perform: Called with the effects of each step, on the lane.
  init(engine: Engine, clock: Clock, perform: @escaping @Sendable (Effects) -> Void) {
    self.engine = engine
    self.clock = clock
    self.perform = perform
  }

  deinit {
    timer?.cancel()
    // Dispatch does not release a queue that was never active.
    if !hasBegun { queue.activate() }
  }

  /// Gives the engine the state in the store, as its first event. Events that were posted before wait.
  ///
  /// - Parameter awaitsLease: Whether the engine needs a lease before it may accept anything. What clients ask for until
  ///   then waits for it, so that an instance refuses nothing because it is new.
  func begin(with state: RecoveredState, awaitsLease: Bool = false) {
    if awaitsLease { early = [] }
    perform(engine.handle([.recovered(state)], at: clock.now))
    hasBegun = true
    queue.activate()
    // The time of the engine's next step.
    queue.async { self.step() }
  }

  /// Sends events to the engine, from any thread.
  func post(_ events: [EngineEvent]) {
    if mailbox.post(contentsOf: events) == .mustWake { queue.async { self.step() } }
  }

  /// Sends an event to the engine, from any thread.
  func post(_ event: EngineEvent) {
    if mailbox.post(event) == .mustWake { queue.async { self.step() } }
  }

  /// Leaves an event until somebody calls ``wake()``, which must be soon: events that others post meanwhile wait with
  /// it.
  ///
  /// An event loop so submits all calls of one iteration as one batch, with one wake-up. Otherwise the first would
  /// start the engine, and then the store, with a batch of one.
  func leave(_ event: EngineEvent) {
    if mailbox.post(event) == .mustWake { isToBeWoken.store(true, ordering: .releasing) }
  }

  /// Wakes the lane if an event was left for it.
  func wake() {
    guard isToBeWoken.load(ordering: .relaxed), isToBeWoken.exchange(false, ordering: .acquiringAndReleasing) else {
      return
    }
    queue.async { self.step() }
  }

  private func step() {
    mailbox.take(&batch)
    holdBack()
    let effects = engine.handle(batch, at: clock.now)
    batch.removeAll(keepingCapacity: true)
    perform(effects)
    arm(for: effects.wakeAt)
  }

  /// Takes what clients ask for out of the step, until the first request for a lease has a result, whatever that is.
  private func holdBack() {
    guard var early else { return }
    let isOver = batch.contains { event in
      switch event {
      case .leased, .drain: return true
      case .storeFailed(let request, _): if case .lease = request.body { return true } else { return false }
      default: return false
      }
    }
    early += batch.filter(\.needsLease)
    batch.removeAll(where: \.needsLease)
    if isOver { batch += early }
    self.early = isOver ? nil : early
  }

  /// The maximum sleep of the timer. Dispatch's clock stops while the machine is suspended but the service's clock does
  /// not, so a call may be due long before its timer fires. It is at most this late.
  private static let longestSleep = Duration.seconds(5)

  /// Sets the timer, unless it fires early enough anyway: an unneeded step costs less than setting the timer each time.
  private func arm(for wake: Timestamp?) {
    guard let wake else { return }
    if let armedFor, armedFor <= wake { return }
    let timer = self.timer ?? makeTimer()
    self.timer = timer
    let now = clock.now
    let next = min(wake, now + Self.longestSleep)
    armedFor = next
    timer.schedule(deadline: .now() + .microseconds(Int(max(0, (next - now).wholeMicroseconds))))
  }

  private func makeTimer() -> any DispatchSourceTimer {
    let timer = DispatchSource.makeTimerSource(queue: queue)
    // Weak: the timer's queue outlives the lane, and the timer may fire while the lane's calls are being freed.
    timer.setEventHandler { [weak self] in
      guard let self else { return }
      armedFor = nil
      step()
    }
    timer.activate()
    return timer
  }
}

extension EngineEvent {
  /// Whether a client asks for something that an engine without a lease refuses.
  fileprivate var needsLease: Bool {
    switch self {
    case .submit, .command, .targetCommand: true
    default: false
    }
  }
}

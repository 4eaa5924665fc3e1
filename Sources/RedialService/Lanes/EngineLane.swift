internal import Dispatch
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import Synchronization

/// The lane that the engine runs on: it gathers events, gives the engine its
/// turn, passes its effects on, and wakes it when it asked to be woken.
///
/// `@unchecked Sendable`: everything mutable is touched on `queue` only, which is serial.
final class EngineLane: @unchecked Sendable {
  private let queue = DispatchQueue(label: "redial.engine", qos: .userInitiated, attributes: .initiallyInactive)
  private var hasBegun = false
  private let mailbox = Mailbox<EngineEvent>()
  /// Whether something was left in the empty mailbox, for which nobody has woken the lane yet.
  private let isToBeWoken = Atomic(false)
  private let clock: Clock
  private let perform: @Sendable (Effects) -> Void
  private var engine: Engine
  private var timer: (any DispatchSourceTimer)?
  /// When the timer goes off; nil when it will not.
  private var armedFor: Timestamp?

  /// - Parameter perform: Called with each turn's effects, on the lane.
  init(engine: Engine, clock: Clock, perform: @escaping @Sendable (Effects) -> Void) {
    self.engine = engine
    self.clock = clock
    self.perform = perform
  }

  deinit {
    timer?.cancel()
    // Dispatch does not let go of a queue that was never active.
    if !hasBegun { queue.activate() }
  }

  /// Gives the engine what the store held, as its first event. What is posted before waits.
  func begin(with state: RecoveredState) {
    perform(engine.handle([.recovered(state)], at: clock.now))
    hasBegun = true
    queue.activate()
    // For the time at which the engine wants its next turn.
    queue.async { self.turn() }
  }

  /// Tells the engine of events, from any thread.
  func post(_ events: some Sequence<EngineEvent>) {
    if mailbox.post(events) { queue.async { self.turn() } }
  }

  /// Tells the engine of events, from any thread.
  func post(_ events: [EngineEvent]) {
    if mailbox.post(events) { queue.async { self.turn() } }
  }

  /// Leaves an event until somebody calls ``wake()``, which has to be soon: what others post meanwhile waits with it.
  ///
  /// So an event loop hands over all calls of a turn as one batch, with one wake-up; the first would otherwise have the
  /// engine, and behind it the store, begin with a batch of one.
  func leave(_ event: EngineEvent) {
    if mailbox.post(CollectionOfOne(event)) { isToBeWoken.store(true, ordering: .releasing) }
  }

  /// Wakes the lane if something was left for it.
  func wake() {
    guard isToBeWoken.load(ordering: .relaxed), isToBeWoken.exchange(false, ordering: .acquiringAndReleasing) else {
      return
    }
    queue.async { self.turn() }
  }

  private func turn() {
    let effects = engine.handle(mailbox.takeAll(), at: clock.now)
    perform(effects)
    arm(for: effects.wakeAt)
  }

  /// The longest that the timer sleeps. Dispatch's time stands still while the machine is suspended and the service's does
  /// not, so that a call may be due long before a timer set for it goes off; it is this much late at most.
  private static let longestSleep = Duration.seconds(5)

  /// Sets the timer, unless it goes off in time anyway: a turn too many costs less than setting it each time.
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
    // Weak: the timer's queue outlives the lane, and the timer may go off while the lane's calls are being freed.
    timer.setEventHandler { [weak self] in
      guard let self else { return }
      armedFor = nil
      turn()
    }
    timer.activate()
    return timer
  }
}

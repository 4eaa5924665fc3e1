internal import Dispatch
internal import RedialCore
internal import RedialEngine
internal import RedialLanes
internal import RedialModel
internal import Synchronization

/// The lane of the engine. It collects events, runs a step of the engine, passes its effects on, and wakes it at the
/// time that it requested.
///
/// A step for a few events runs on the thread that brings them: to wake another thread costs more than the step does
/// when calls come one by one. Larger batches, and what comes during a step, are for the lane's own queue, so that no
/// event loop works for all others.
///
/// `@unchecked Sendable`: all mutable state is used only by the one thread that the mailbox has told to wake the lane,
/// from then until ``Mailbox/maySleep()`` lets the next one; and in ``begin(with:_:awaitsLease:perform:)``, before any.
final class EngineLane: @unchecked Sendable {
  private let queue = DispatchQueue(label: "redial.engine", qos: .userInitiated, attributes: .initiallyInactive)
  private var hasBegun = false
  /// Whether steps may run on other threads than the queue's: the engine has its state.
  private let isOpen = Atomic(false)
  private let mailbox = Mailbox<EngineEvent>()
  /// Whose turn it is to run a step.
  private let turn = Turn()
  /// The events of the current step. Their memory is used again.
  private var batch: [EngineEvent] = []
  /// What clients have asked for before the first lease; nil if nobody waits for one.
  private var early: [EngineEvent]?
  /// Whether a deferred event has come into the empty mailbox, and the lane was not woken yet.
  private let isToBeWoken = Atomic(false)
  private let clock: Clock
  /// Makes data keys; nil if nobody has to wait for one.
  private let keys: NamespaceKeys?
  /// Set by ``begin(with:_:awaitsLease:perform:)``.
  private var perform: @Sendable (Effects) -> Void = { _ in }
  private var engine: Engine
  private var timer: (any DispatchSourceTimer)?
  /// Whether the timer has fired since the last step.
  private let hasFired = Atomic(false)
  /// When the timer fires; nil for never.
  private var armedFor: Timestamp?

  init(engine: Engine, clock: Clock, keys: NamespaceKeys? = nil) {
    self.engine = engine
    self.clock = clock
    self.keys = keys
  }

  deinit {
    timer?.cancel()
    // Dispatch does not release a queue that was never active.
    if !hasBegun { queue.activate() }
  }

  /// Gives the engine the state in the store. Events that were posted before wait.
  ///
  /// - Parameters:
  ///   - state: The state.
  ///   - subscriptions: The receivers of webhooks. The engine learns of them first, because calls may end at once whose
  ///     attempts an earlier process left in flight.
  ///   - awaitsLease: Whether the engine needs a lease before it may accept anything. What clients ask for until then
  ///     waits for it, so that an instance refuses nothing because it is new.
  ///   - perform: Called with the effects of each step, on the lane.
  func begin(
    with state: RecoveredState, _ subscriptions: [WebhookSubscription] = [], awaitsLease: Bool = false,
    perform: @escaping @Sendable (Effects) -> Void
  ) {
    self.perform = perform
    if awaitsLease { early = [] }
    perform(engine.handle([.subscriptions(subscriptions), .recovered(state)], at: clock.now))
    hasBegun = true
    isOpen.store(true, ordering: .releasing)
    queue.activate()
    // The time of the engine's next step.
    if mailbox.rouse() == .mustWake { queue.async { self.run() } }
  }

  /// Sends events to the engine, from any thread.
  func post(_ events: [EngineEvent]) {
    let events = keys == nil ? events : events.filter { !awaitsKey($0) }
    if mailbox.post(contentsOf: events) == .mustWake { queue.async { self.run() } }
  }

  /// Sends an event to the engine, from any thread.
  func post(_ event: EngineEvent) {
    if !awaitsKey(event) { postKeyed(event) }
  }

  private func postKeyed(_ event: EngineEvent) {
    if mailbox.post(event) == .mustWake { queue.async { self.run() } }
  }

  /// Asks the engine something. The question is retained until it is answered.
  ///
  /// - Parameters:
  ///   - question: Reads the engine, on its lane.
  ///   - then: Called with the answer, on the lane.
  func ask<Answer: Sendable>(
    _ question: @escaping @Sendable (inout Engine) -> Answer, then: @escaping @Sendable (Answer) -> Void
  ) {
    post(.question(Question(question, then: then)))
  }

  /// Sends events to the engine, and runs its step on this thread if they are few. Nobody may hold a lock that a step's
  /// effects need.
  func postInPlace(_ events: [EngineEvent]) {
    if mailbox.post(contentsOf: events) == .mustWake { runInPlace() }
  }

  /// Defers an event until somebody calls ``wake()``, which must be soon: events that others post meanwhile wait with
  /// it.
  ///
  /// An event loop so submits all calls of one iteration as one batch. Otherwise the first would start the engine, and
  /// then the store, with a batch of one.
  func deferEvent(_ event: EngineEvent) {
    if awaitsKey(event) { return }
    if mailbox.post(event) == .mustWake { isToBeWoken.store(true, ordering: .releasing) }
  }

  /// Wakes the lane if an event was deferred, and runs the step on this thread if the events are few.
  func wake() {
    guard isToBeWoken.load(ordering: .relaxed), isToBeWoken.exchange(false, ordering: .acquiringAndReleasing) else {
      return
    }
    runInPlace()
  }

  /// Whether an event waits for a data key that has to be made first. It is posted then when the key is there, and refused
  /// if it cannot be made: a program that hangs must not stop the store for all others.
  private func awaitsKey(_ event: EngineEvent) -> Bool {
    guard let keys, let namespace = event.sealedNamespace, !keys.isReady(namespace) else { return false }
    keys.ready(namespace) { [self] failure in
      guard failure != nil else { return postKeyed(event) }
      var effects = Effects()
      effects.actions = event.refused(.keyNotMade(namespace)).map { [.reply($0)] } ?? []
      perform(effects)
    }
    return true
  }

  // MARK: Steps

  /// The maximum number of events of a step that runs on the thread which brings them.
  private static let mostInPlace = 32

  /// Runs a step here, unless it is for many events. Whatever comes meanwhile is for the queue.
  private func runInPlace() {
    guard isOpen.load(ordering: .acquiring) else { return queue.async { self.run() } }
    turn.begin()
    mailbox.take(&batch, staysAwake: true)
    guard batch.count <= Self.mostInPlace else {
      turn.end()
      return queue.async {
        self.turn.begin()
        self.step()
        self.turn.end()
        self.run(unless: self.mailbox.maySleep())
      }
    }
    step()
    turn.end()
    if !mailbox.maySleep() { queue.async { self.run() } }
  }

  /// Runs steps on the queue, until nothing waits.
  private func run(unless isDone: Bool = false) {
    var isDone = isDone
    while !isDone {
      turn.begin()
      mailbox.take(&batch, staysAwake: true)
      step()
      turn.end()
      isDone = mailbox.maySleep()
    }
  }

  private func step() {
    if hasFired.load(ordering: .relaxed), hasFired.exchange(false, ordering: .acquiringAndReleasing) { armedFor = nil }
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
  private var longestSleep: Duration { clock.isShifted ? .milliseconds(10) : .seconds(5) }

  /// Sets the timer, unless it fires early enough anyway: an unneeded step costs less than setting the timer each time.
  private func arm(for wake: Timestamp?) {
    guard let wake else { return }
    if let armedFor, armedFor <= wake { return }
    let timer = self.timer ?? makeTimer()
    self.timer = timer
    let now = clock.now
    let next = min(wake, now + longestSleep)
    armedFor = next
    timer.schedule(deadline: .now() + .microseconds(Int(max(0, (next - now).wholeMicroseconds))))
  }

  private func makeTimer() -> any DispatchSourceTimer {
    let timer = DispatchSource.makeTimerSource(queue: queue)
    // Weak: the timer's queue outlives the lane, and the timer may fire while the lane's calls are being freed.
    timer.setEventHandler { [weak self] in
      guard let self else { return }
      hasFired.store(true, ordering: .releasing)
      if mailbox.rouse() == .mustWake { run() }
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

  /// The namespace of what a client wants stored.
  fileprivate var sealedNamespace: Namespace? {
    switch self {
    case .submit(let descriptor, _): descriptor.spec.namespace
    case .targetCommand(let command): command.target.namespace
    default: nil
    }
  }

  /// The answer that refuses it.
  fileprivate func refused(_ refusal: Refusal) -> Reply? {
    switch self {
    case .submit(_, let token): .submission(token, .refused(refusal))
    case .targetCommand(let command): .targetCommand(command.reply, .refused(refusal))
    default: nil
    }
  }
}

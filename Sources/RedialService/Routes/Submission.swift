internal import HTTPServer
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialJSON

/// Submits calls to the engine, however they were described.
struct Submission: Sendable {
  let clock: Clock
  let redaction: Redaction
  let plans: PlanLane
  let engine: EngineLane
  let intake: Intake
  let queries: Queries
  let metrics: Metrics
  let keys: KeyRing
  let limits: CallDescriptor.Limits
  /// The clients that may name a call's target.
  let targetNaming: TargetNaming
  /// Maximum number of services like this one that a submission may have passed through.
  let maxHops: Int
  /// How long a client may wait for the end of its call.
  let longestWait: Duration

  /// The limits for a caller's descriptors.
  ///
  /// - Throws: A problem of status 508 if the submission has passed through too many Redial services.
  func limits(
    for caller: Caller, _ request: borrowing HTTPRequest
  ) throws(Problem) -> CallDescriptor.Limits {
    let mayNameTargets = targetNaming.allows(mayOperate: caller.mayOperate)
    let hops = try hops(of: request)
    var limits = limits
    limits.latestStart = clock.now + limits.delay
    limits.apiKey = caller.keyID
    // The usual case.
    if caller.namespace.isDefault, mayNameTargets, hops == 0 { return limits }
    limits.hops = hops
    limits.namespace = caller.namespace
    limits.mayNameTargets = mayNameTargets
    return limits
  }

  /// How many services like this one a submission has passed through. If a proxy leads from a target back to this
  /// service, a call could submit itself again and again, forever.
  private func hops(of request: borrowing HTTPRequest) throws(Problem) -> Int {
    let field = request.header("redial-hops")
    guard field != nil || request.header("redial-attempt") != nil else { return 0 }
    let hops = field.flatMap { Int($0) }.map { max(1, $0) } ?? 1
    guard hops <= min(maxHops, CallDescriptor.Limits.mostHops) else {
      throw Problem(
        .tooManyHops,
        detail:
          "This submission comes from the attempt of a call that was itself submitted by one, \(hops) times over; "
          + "\(maxHops) are allowed. Look where the URLs of these calls lead.")
    }
    return hops
  }

  /// Submits a call.
  ///
  /// - Parameters:
  ///   - wait: How the client waits for the end of the call; nil if it does not.
  ///   - atEndOfIteration: Whether the engine is woken only at the end of the event loop's iteration; the caller
  ///     must then run on that loop.
  func submit(
    _ descriptor: CallDescriptor, waiting wait: EndWait?, _ responder: HTTPResponder, atEndOfIteration: Bool = false
  ) {
    let event = intake.event(descriptor, of: Self.submitter(responder, waiting: wait))
    if atEndOfIteration { engine.deferEvent(event) } else { engine.post(event) }
  }

  /// Refuses a submission that cannot be accepted as things are now, unless it repeats one that was.
  ///
  /// - Parameter key: The key under which it would have been submitted; nil without one.
  /// - Throws: The problem, if there is no key.
  func refuse(
    _ problem: Problem, unlessRepeatedUnder key: IdempotencyKey?, waiting wait: EndWait?, _ responder: HTTPResponder
  ) throws(Problem) {
    guard let key else { throw problem }
    intake.refuse(problem, unlessRepeatedUnder: key, Self.submitter(responder, waiting: wait))
  }

  /// The client of a submission, which waits for the end of the call or does not.
  static func submitter(_ responder: HTTPResponder, waiting wait: EndWait?) -> Submitter.Kind {
    wait.map { .untilEnd(responder, $0) } ?? .client(responder)
  }

  /// How the client of a submission waits for the result, if at all. A preference is limited, not refused.
  func preferredWait(_ request: borrowing HTTPRequest, of caller: Caller) -> EndWait? {
    guard let wait = Preferences(of: request).wait, wait > .zero else { return nil }
    return EndWait(bound: min(wait, longestWait)) { [keys] in keys.refusal(of: caller) }
  }

  /// Answers with the effects of a call if it were submitted: its spec with every default, and its plan.
  func showPlan(of descriptor: CallDescriptor, _ responder: HTTPResponder, _ caller: Caller) {
    let verdict = (limits.egress ?? EgressPolicy()).verdict(
      ofOrigin: (try? TargetURL(descriptor.spec.url).origin) ?? "")
    plans.answer(responder, by: queries, for: caller) {
      let plan = descriptor.spec.policy.plan()
      return Answer.json(capacity: 4096) { writer in
        writer.beginObject()
        writer.field("startsAt", descriptor.start.instant(acceptedAt: clock.now))
        writer.key("call")
        writer.raw(descriptor.spec.redactedJSON(redaction))
        writer.key("egress")
        verdict.write(to: &writer)
        writer.key("plan")
        let spec = descriptor.spec
        PlanView.write(
          plan, of: spec.policy, named: spec.policyName, isOfCall: true, mayRepeat: spec.idempotent, to: &writer)
        writer.key("warnings")
        CallWarning.write(spec.warnings, to: &writer)
        writer.endObject()
      }
    }
  }
}

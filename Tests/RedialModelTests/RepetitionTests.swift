import RedialCore
import RedialModel
import Testing

@Suite("Whether a call runs again when it is submitted again")
struct RepetitionTests {
  private static func call(
    _ state: StoredState, attempts: Int = 1, _ change: (inout CallFields) -> Void = { _ in }
  ) -> CallRecord {
    let spec = CallSpec(
      url: "http://127.0.0.1:1/", method: "POST", headers: [], target: "t", policy: .service, captureLimit: 0,
      change)
    let progress = CallProgress(state: state, due: .epoch, attempts: attempts, roundStartedAt: .epoch)
    return CallRecord(
      id: CallID(rawValue: 1), kind: .call, spec: spec, body: [], createdAt: .epoch, progress: progress)
  }

  private static func attempt(
    _ number: Int, _ outcome: OutcomeClass, _ status: Int? = nil, figures: ExchangeFigures? = nil
  ) -> AttemptRecord {
    AttemptRecord(
      number: number, startedAt: .epoch, duration: .zero, outcome: outcome, status: status, figures: figures)
  }

  @Test("it does if it has failed or was cancelled, and nobody has said otherwise")
  func states() {
    for state in StoredState.allCases {
      let ends = state == .failed || state == .cancelled
      #expect(Self.call(state).whenRepeated { [] } == (ends ? .rerun : .repeated))
      #expect(Self.call(state) { $0.repetitionRule = .answer }.whenRepeated { [] } == .repeated)
      #expect(Self.call(state) { $0.contentErasedAt = .epoch }.whenRepeated { [] } == (ends ? .notRerun : .repeated))
    }
  }

  @Test("one that must not be executed twice does if no attempt may have been executed")
  func notIdempotent() {
    func runs(_ attempts: AttemptRecord..., made: Int? = nil) -> Bool {
      let call = Self.call(.failed, attempts: made ?? attempts.count) { $0.isIdempotent = false }
      return call.whenRepeated { attempts } == .rerun
    }
    for status in [400, 401, 404, 408, 422, 425, 429, 499] { #expect(runs(Self.attempt(1, .answered, status))) }
    for status in [200, 302, 409, 500, 501, 503] { #expect(!runs(Self.attempt(1, .answered, status))) }
    for outcome in [OutcomeClass.notSent, .localFault, .blocked] { #expect(runs(Self.attempt(1, outcome))) }
    for outcome in [OutcomeClass.maybeSent, .unusable, .interrupted, .cancelled] {
      #expect(!runs(Self.attempt(1, outcome)))
    }
    // One suffices, whichever it is.
    #expect(!runs(Self.attempt(1, .maybeSent), Self.attempt(2, .notSent)))
    #expect(!runs(Self.attempt(1, .notSent), Self.attempt(2, .maybeSent)))
    // An attempt without a record, and a call without an attempt.
    #expect(!runs(Self.attempt(2, .notSent), made: 2))
    #expect(runs(made: 0))
  }

  @Test("how far an exchange came says more than its outcome")
  func figures() {
    func runs(_ outcome: OutcomeClass, _ phase: ExchangeFigures.Phase, _ status: Int? = nil, redirects: Int = 0) -> Bool
    {
      var figures = ExchangeFigures(phase: phase)
      figures.redirects = redirects
      let call = Self.call(.failed) { $0.isIdempotent = false }
      return call.whenRepeated { [Self.attempt(1, outcome, status, figures: figures)] } == .rerun
    }
    #expect(runs(.unusable, .tls) && !runs(.unusable, .request))
    #expect(runs(.localFault, .connect) && !runs(.localFault, .request))
    // The first target has answered with a redirect, and may have executed the request.
    #expect(!runs(.notSent, .connect, redirects: 1) && !runs(.answered, .response, 404, redirects: 1))
    #expect(runs(.answered, .response, 404))
  }
}

import Foundation
import RedialClient
import RedialCore
import RedialModel
import Testing

@testable import RedialService

/// A word that the service has and the client has no constant for can be missed in a `switch` of its users.
@Suite("The client has a constant for each of the service's words")
struct WordTests {
  @Test("for states, kinds, and the reasons of waits and failures")
  func calls() {
    let states: [RedialCall.State] = [.scheduled, .running, .succeeded, .failed, .cancelled]
    #expect(Set(states.map(\.rawValue)) == Set(CallState.allCases.map(\.rawValue)))
    #expect(
      states.filter(\.isFinal).map(\.rawValue).sorted()
        == Set(StoredState.allCases.filter(\.isFinal).map(\.visible.rawValue)).sorted())
    let kinds: [RedialCall.Kind] = [.call, .webhook]
    #expect(Set(kinds.map(\.rawValue)) == Set(CallKind.allCases.map(\.name)))
    let waits: [RedialCall.WaitReason] = [
      .startTime, .backoff, .retryAfter, .breaker, .concurrency, .rateLimit, .retryBudget, .ordering, .paused, .pace,
      .connections,
    ]
    #expect(Set(waits.map(\.rawValue)) == Set(WaitReason.allCases.map { "\($0.name)" }))
    let failures: [RedialCall.FailureReason] = [
      .attemptsExhausted, .deadlineExceeded, .notRetryable, .tripped, .blocked, .attemptEndedTheService,
    ]
    #expect(Set(failures.map(\.rawValue)) == Set(StopReason.allCases.map { "\($0)" }))
  }

  @Test("for outcomes, states of breakers, and events")
  func others() {
    let outcomes: [RedialCallAttempt.Outcome] = [
      .answered, .notSent, .maybeSent, .unusable, .localFault, .interrupted, .cancelled, .blocked,
    ]
    #expect(Set(outcomes.map(\.rawValue)) == Set(OutcomeClass.allCases.map { "\($0)" }))
    let breakers: [RedialAPI.Target.Breaker.State] = [.closed, .open, .halfOpen]
    #expect(Set(breakers.map(\.rawValue)) == Set(TargetSnapshot.BreakerState.allCases.map(\.rawValue)))
    let events: [RedialEvent.Kind] = [
      .callAccepted, .callAttempted, .callSucceeded, .callFailed, .callTripped, .callCancelled, .targetOpened,
      .targetHalfOpened, .targetClosed, .targetDown, .targetRecovered, .targetControlled, .endpointDisabled,
    ]
    #expect(Set(events.map(\.rawValue)) == Set(EventType.streamed.map(\.rawValue)))
  }
}

@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("Silent targets")
struct SilenceTests {
  private func isOpen(_ probe: inout EngineProbe) -> Bool { probe.report()?.targets.first?.breaker == .open }

  /// Calls that the target does not answer, one after the other, until their deadline ends them.
  private func cut(_ probe: inout EngineProbe, after deadline: Duration, phase: ExchangeFigures.Phase? = .request) {
    var policy = RetryPolicy.test
    policy.deadline = deadline
    for _ in 0..<3 {
      let id = probe.submit(policy)
      if probe.starts(of: id) == 0 { return }
      #expect(probe.starts.last?.timeout == deadline)
      probe.advance(deadline)
      probe.end(id, .maybeSent, code: AttemptFailure.timeout, took: deadline, phase: phase)
      #expect(probe.progress(id)?.failure == .deadlineExceeded)
    }
  }

  @Test("an attempt that its call's deadline ends after a moment says nothing about the target")
  func cutByDeadline() {
    var probe = EngineProbe(.tripsAfterTwo())
    cut(&probe, after: .milliseconds(990))
    #expect(!isOpen(&probe))
    // By its own timeout it does, however short that is.
    var short = RetryPolicy.test
    short.attemptTimeout = .milliseconds(50)
    for _ in 0..<2 {
      let id = probe.submit(short)
      probe.advance(.milliseconds(50))
      probe.end(id, .maybeSent, code: AttemptFailure.timeout, took: .milliseconds(50), phase: .request)
    }
    #expect(isOpen(&probe))
  }

  @Test(
    "a long silence counts against a target although the call's deadline ends it, wherever the attempt had come to",
    arguments: [ExchangeFigures.Phase.resolve, .connect, .tls, .request, nil])
  func longSilence(phase: ExchangeFigures.Phase?) {
    var probe = EngineProbe(.tripsAfterTwo())
    cut(&probe, after: .seconds(4), phase: phase)
    #expect(isOpen(&probe))
  }

  @Test("a response that was coming in, and an attempt that had not begun, are no silence")
  func noSilence() {
    for phase in [ExchangeFigures.Phase.response, .setup] {
      var probe = EngineProbe(.tripsAfterTwo())
      cut(&probe, after: .seconds(4), phase: phase)
      #expect(!isOpen(&probe), "\(phase)")
    }
  }

  @Test("what is long for a target follows from how long it takes to answer")
  func usualTime() {
    for (usual, opens) in [(Duration.milliseconds(40), true), (.seconds(2), false)] {
      var probe = EngineProbe(.tripsAfterTwo())
      for _ in 0..<20 {
        let id = probe.submit()
        probe.advance(usual)
        probe.end(id, status: 200, took: usual)
      }
      cut(&probe, after: .milliseconds(2500))
      #expect(isOpen(&probe) == opens, "\(usual)")
    }
  }

  @Test("connections that are refused slowly do not make a long silence usual")
  func refusals() {
    var probe = EngineProbe(.tripsAfterTwo())
    for _ in 0..<10 {
      let id = probe.submit()
      probe.advance(.milliseconds(20))
      probe.end(id, status: 200, took: .milliseconds(20))
      let refused = probe.submit()
      probe.advance(.milliseconds(990))
      probe.end(refused, .notSent, took: .milliseconds(990), phase: .connect)
      probe.command(.cancel, refused)
    }
    cut(&probe, after: .milliseconds(1500))
    #expect(isOpen(&probe))
  }

  @Test("a call that its client cancels counts against a target that was silent for long, and against no other")
  func cancelled() {
    for (time, phase, opens) in [
      (Duration.seconds(3), ExchangeFigures.Phase?.some(.request), true), (.seconds(3), .response, false),
      (.seconds(3), nil, false), (.milliseconds(300), .request, false),
    ] {
      var probe = EngineProbe(.tripsAfterTwo())
      for _ in 0..<2 {
        let id = probe.submit()
        probe.advance(time)
        probe.command(.cancel, id)
        probe.end(id, .cancelled, code: "cancelled", took: time, phase: phase)
        #expect(probe.state(id) == .cancelled)
      }
      #expect(isOpen(&probe) == opens, "\(time) \(phase.map { "\($0)" } ?? "no figures")")
    }
  }

  @Test("an attempt that this side ends as it stops says nothing, however long the silence was")
  func interrupted() {
    var probe = EngineProbe(.tripsAfterTwo())
    for _ in 0..<3 {
      let id = probe.submit()
      probe.advance(.seconds(9))
      probe.end(id, .cancelled, code: "cancelled", took: .seconds(9), phase: .request)
    }
    #expect(!isOpen(&probe))
  }
}

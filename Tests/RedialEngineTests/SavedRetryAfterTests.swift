@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("A pause that a target asked for")
struct SavedRetryAfterTests {
  private func recovered(_ seconds: Int, _ settings: EngineSettings = EngineSettings()) -> EngineProbe {
    let record = TargetRecord(askedUntil: EngineProbe().now + .seconds(seconds))
    return EngineProbe(settings, recovered: RecoveredState(targets: [(EngineProbe.target, record)]))
  }

  @Test("is saved with the attempt that got it, unless it is short")
  func saved() {
    for (seconds, isSaved) in [(4, false), (5, true), (30, true)] {
      var probe = EngineProbe()
      let id = probe.submit()
      probe.end(id, status: 503, head: "Retry-After: \(seconds)\r\n")
      #expect(probe.storedPauses == (isSaved ? [probe.now + .seconds(seconds)] : []), "\(seconds) s")
    }
  }

  @Test("is not saved again for each attempt that makes it a little longer")
  func extended() {
    var probe = EngineProbe()
    let ids = (0..<4).map { _ in probe.submit() }
    let first = probe.now + .seconds(30)
    for id in ids {
      probe.end(id, status: 503, head: "Retry-After: 30\r\n")
      probe.advance(.milliseconds(400))
    }
    // At 0, 0.4, 0.8 and 1.2 s.
    #expect(probe.storedPauses == [first, first + .milliseconds(1200)])
  }

  @Test("goes on in the next process, which reports it, and ends then")
  func recovery() {
    var probe = recovered(30)
    let id = probe.submit()
    #expect(probe.starts(of: id) == 0)
    #expect(probe.wait(of: id) == CallView.Wait(reason: .retryAfter, until: probe.now + .seconds(30)))
    probe.advance(.seconds(29))
    #expect(probe.starts(of: id) == 0)
    probe.advance(.seconds(1))
    #expect(probe.starts(of: id) == 1)
  }

  @Test("is no longer than a pause may be, whatever the clock of the process before was")
  func bounded() {
    var settings = EngineSettings()
    settings.maxRetryAfterPause = .seconds(10)
    var probe = recovered(86_400, settings)
    let id = probe.submit()
    probe.advance(.seconds(9))
    #expect(probe.starts(of: id) == 0)
    probe.advance(.seconds(1))
    #expect(probe.starts(of: id) == 1)
  }

  @Test("that an operator ends is over for the next process too")
  func released() {
    var probe = recovered(30)
    let id = probe.submit()
    probe.control(.release)
    #expect(probe.storedPauses == [nil])
    #expect(probe.starts(of: id) == 1)
    // There is nothing left to remove.
    probe.control(.release)
    #expect(probe.storedPauses == [nil])
  }
}

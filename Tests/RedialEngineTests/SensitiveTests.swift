@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import RedialJSON
import Testing

@Suite("Sensitive calls")
struct SensitiveTests {
  private func spec(_ change: (inout CallFields) -> Void = { _ in }) -> CallSpec {
    CallSpec(
      url: "https://example.com/pay?who=ada", method: "POST", headers: [HeaderField("x-mine", "secret")],
      target: EngineProbe.target, policy: .test, captureLimit: 100
    ) {
      $0.isSensitive = true
      $0.description = "a refund"
      change(&$0)
    }
  }

  @Test("a call is erased in the commit of its end, and its answers are never stored")
  func erased() throws {
    var probe = EngineProbe()
    let id = probe.submit(spec())
    probe.written = []
    probe.end(id, status: 503, head: "x-reply: secret\r\n")
    guard case .update(_, _, let attempt?) = try #require(probe.written.first) else {
      Issue.record("the attempt is not stored")
      return
    }
    #expect(attempt.status == 503 && attempt.response == nil)
    #expect(!probe.written.contains { if case .erase = $0 { true } else { false } }, "it goes on")
    probe.written = []
    probe.hear(.command(CallCommand(.cancel, id, reply: probe.token(for: CallCommand.Reply.self))))
    probe.commit()
    var ends = 0
    for (write, next) in zip(probe.written, probe.written.dropFirst()) {
      guard case .update(id, let progress, _) = write, progress.state.isFinal, case .erase(id, let left) = next else {
        continue
      }
      ends += 1
      #expect(left.url == "https://example.com/pay" && left.headers.isEmpty && left.contentErasedAt != nil)
      #expect(left.fields.description == "a refund", "what describes it to people stays")
    }
    #expect(ends == 1)
  }

  @Test("an error of which nobody knows what it quotes is only a code")
  func errors() throws {
    var probe = EngineProbe()
    let id = probe.submit(spec())
    probe.written = []
    let result = AttemptResult(
      outcome: .notSent, failure: AttemptFailure(code: "connectionRefused", message: "secret"), duration: .seconds(1))
    probe.hear(.attemptEnded(id, number: 1, result))
    probe.commit()
    guard case .update(_, _, let attempt?) = try #require(probe.written.first) else {
      Issue.record("the attempt is not stored")
      return
    }
    #expect(attempt.failure == AttemptFailure(code: "connectionRefused", message: ""))
  }

  @Test("a target and a rule make their new calls sensitive, and name members besides those of a call")
  func targets() throws {
    let pointers = ["/a", "/b"].compactMap { JSONPointer($0) }
    var settings = EngineSettings()
    var rule = TargetOverrides()
    rule.isSensitive = true
    rule.redact = pointers
    settings.targetRules = [TargetRule(match: "*", settings: rule)]
    var probe = EngineProbe(settings)
    let id = probe.submit(
      spec {
        $0.isSensitive = false
        $0.redact = [pointers[1]]
      })
    let stored = try #require(probe.record(id)).spec
    #expect(stored.isSensitive && stored.redact == [pointers[1], pointers[0]])
  }
}

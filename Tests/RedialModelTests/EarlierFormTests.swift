import RedialCore
import RedialJSON
import RedialModel
import Testing

@Suite("What builds from before the first release have stored")
struct EarlierFormTests {
  private func overrides(stored text: String) throws(Problem) -> TargetOverrides {
    let bytes = Array(text.utf8)
    return try bytes.withUnsafeBufferPointer { bytes in
      Result { () throws(Problem) in try TargetOverrides.read(stored: bytes) }
    }.get()
  }

  private func overrides(given text: String) throws(Problem) -> TargetOverrides {
    let bytes = Array(text.utf8)
    return try bytes.withUnsafeBufferPointer { bytes in
      Result { () throws(Problem) in try TargetOverrides.read(bytes) }
    }.get()
  }

  private func policy(stored text: String) throws -> StoredPolicy {
    let document = Array(#"{"name":"p","version":1,"createdAt":5,"policy":\#(text)}"#.utf8)
    return try document.withUnsafeBufferPointer { try StoredPolicy($0) }
  }

  private func spec(stored policy: String) throws -> CallSpec {
    let text = Array(
      #"{"url":"http://a/","method":"GET","policy":\#(policy),"target":"http://a","capture":{"maxBytes":1}}"#.utf8)
    return try text.withUnsafeBufferPointer { try CallSpec.read(canonicalJSON: $0) }
  }

  @Test("limits of targets keep their meaning: 0 was no limit, and minimumCalls is minCalls")
  func targets() throws {
    let old = try overrides(
      stored: #"{"breaker":{"minimumCalls":30},"rate":{"perSecond":0.0,"burst":2},"retryBudget":{"minPerSecond":0}}"#)
    #expect(old.minimumCalls == 30 && old.ratePerSecond == 0 && old.retriesPerSecond == 0 && old.rateBurst == 2)
    let new = #"{"breaker":{"minCalls":30},"rate":{"perSecond":null,"burst":2},"retryBudget":{"minPerSecond":null}}"#
    #expect(String(decoding: old.json, as: UTF8.self) == new)
    #expect(try overrides(stored: new) == old)
    // A record of a target has them within.
    let record = #"{"controls":{"overrides":{"breaker":{"minimumCalls":30},"rate":{"perSecond":0}},"paused":true}}"#
    let read = try #require(TargetRecord(document: Array(record.utf8)))
    #expect(read.controls.isPaused && read.controls.overrides.minimumCalls == 30)
    #expect(read.controls.overrides.ratePerSecond == 0)
  }

  @Test(
    "clients may not say it so",
    arguments: [
      #"{"breaker":{"minimumCalls":30}}"#, #"{"rate":{"perSecond":0}}"#, #"{"rate":{"perSecond":0.0}}"#,
      #"{"retryBudget":{"minPerSecond":0}}"#,
    ])
  func clients(_ text: String) throws {
    _ = try overrides(stored: text)
    #expect(throws: Problem.self) { try overrides(given: text) }
  }

  @Test("a stored number that was never valid stays a fault")
  func faults() {
    for text in [
      #"{"rate":{"perSecond":-1}}"#, #"{"rate":{"perSecond":"0"}}"#, #"{"breaker":{"minimumCalls":0}}"#,
      #"{"breaker":{"minimumcalls":3}}"#, #"{"minimumCalls":3}"#, "[]",
    ] {
      #expect(throws: Problem.self, "\(text)") { try overrides(stored: text) }
    }
  }

  @Test("a policy has its members under the names of today, wherever it is stored")
  func policies() throws {
    let old = #"{"maxAttempts": 5, "minimumAttemptTime": "100ms", "onExhausted": "fail"}"#
    let stored = try policy(stored: old)
    #expect(String(decoding: stored.json, as: UTF8.self) == #"{"maxAttempts":5,"minAttemptTime":"100ms"}"#)
    try stored.document.check()
    let spec = try spec(stored: old)
    #expect(spec.policy.deadlineRule.minimumAttemptTime == .milliseconds(100) && spec.policy.maxAttempts == 5)
    let written = String(decoding: spec.canonicalJSON, as: UTF8.self)
    #expect(written.contains(#""minAttemptTime":"100ms""#) && !written.contains("minimumAttemptTime"))
    // What a store may have is not remembered for clients.
    let given = Array(#"{"url":"http://a/","policy":\#(old)}"#.utf8)
    let problem = #expect(throws: Problem.self) {
      try given.withUnsafeBufferPointer { try CallDescriptor.read($0) }
    }
    #expect(problem?.errors.map(\.pointer) == ["/policy/minimumAttemptTime", "/policy/onExhausted"])
  }

  @Test("a decision has its random part under both names")
  func decisions() throws {
    for name in ["jitter", "jitterFactor"] {
      let text = #"{"action":"retry","after":"31.863ms","because":"x","computed":"50ms","\#(name)":0.637}"#
      #expect(try AttemptDecision(json: Array(text.utf8)).jitter == 0.637)
    }
  }

  @Test("what cannot be read is named by its pointer")
  func pointers() throws {
    func reason(_ document: StoredDocument) -> String? {
      do throws(JSONError) {
        try document.check()
        return nil
      } catch {
        return document.content.withUnsafeBufferPointer { error.clause(in: $0) }
      }
    }
    func document(_ kind: StoredDocument.Kind, _ text: String) -> StoredDocument {
      StoredDocument(kind, id: "x", Array(text.utf8))
    }
    let policy = document(.policy, #"{"name":"p","version":1,"createdAt":5,"policy":{"maxAttempt":3}}"#)
    #expect(reason(policy) == "/policy/maxAttempt is not a member of policy")
    #expect(reason(document(.policy, #"{"name":"p","version":1,"createdAt":5,"policy":{"a"}"#)) != nil)
    let operation = document(.operation, #"{"id":1,"request":{"action":"retri"},"namespace":"default"}"#)
    #expect(reason(operation)?.hasPrefix("/request/action must be one of ") == true)
    let alert = document(.alert, #"{"name":"a","createdAt":[]}"#)
    #expect(reason(alert)?.hasPrefix("/createdAt: ") == true, "\(reason(alert) ?? "")")
    let target = #"{"controls":{"overrides":{"breaker":{"probe":3}}}}"#
    do throws(JSONError) {
      try Array(target.utf8).withUnsafeBufferPointer { bytes in
        Result { () throws(JSONError) in try TargetRecord.check(bytes) }
      }.get()
      Issue.record("it was read")
    } catch {
      let clause = Array(target.utf8).withUnsafeBufferPointer { error.clause(in: $0) }
      #expect(clause == "/controls/overrides/breaker/probe is not a member of breaker")
    }
  }
}

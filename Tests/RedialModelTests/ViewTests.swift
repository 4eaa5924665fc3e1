import Foundation
import RedialCore
import Testing

@testable import RedialModel
import RedialJSON

@Suite("Calls and problems as people see them")
struct ViewTests {
  static let now = Timestamp(microseconds: 1_790_000_000_123_456)

  private func call(_ state: StoredState, failure: StopReason? = nil) -> CallRecord {
    CallRecord(
      id: CallID(rawValue: 1_790_000_000_123 << 20), kind: .call,
      spec: CallSpec(
        url: "https://api.example.com/charges", method: "POST", headers: [], target: "billing", policy: .service,
        captureLimit: 10
      ) { $0.labels = [.init(name: "team", value: "pay\"ments")] }, body: [], createdAt: Self.now,
      progress: CallProgress(
        state: state, due: Self.now + .seconds(5), waiting: .backoff, attempts: 2, roundStartedAt: Self.now,
        finishedAt: state.isFinal ? Self.now + .seconds(1) : nil, failure: failure))
  }

  private static let attempts = [
    AttemptRecord(
      number: 1, startedAt: now, duration: .microseconds(12_400), outcome: .maybeSent,
      failure: AttemptFailure(code: "timeout", message: "It did not answer."),
      decision: AttemptDecision(.retry(after: .seconds(1)), because: "timeout is retryable")),
    AttemptRecord(
      number: 2, startedAt: now, duration: .seconds(1), outcome: .answered, status: 200,
      decision: AttemptDecision(.succeed),
      response: CapturedResponse(
        head: HeaderBlock(
          bytes: Array("Content-Type: text/plain\r\nSet-Cookie: a\r\nSet-Cookie:  b \r\nbroken\r\n".utf8)),
        body: [0xFF], truncated: true)),
  ]

  private func object(_ write: (inout JSONWriter) -> Void) throws -> [String: Any] {
    var writer = JSONWriter()
    write(&writer)
    return try #require(try JSONSerialization.jsonObject(with: Data(writer.bytes)) as? [String: Any])
  }

  @Test("a call that has ended shows its attempts and the last response")
  func ended() throws {
    let shown = try object { writer in
      CallView.write(call(.succeeded), attempts: Self.attempts, wait: nil, redaction: Redaction(), to: &writer)
    }
    #expect(shown["state"] as? String == "succeeded" && shown["finishedAt"] as? String == "2026-09-21T14:13:21.123Z")
    #expect(shown["waitingOn"] is NSNull && shown["nextAttemptAt"] is NSNull && shown["deadlineAt"] is String)
    #expect(shown["labels"] as? [String: String] == ["team": "pay\"ments"])
    let attempts = try #require(shown["attempts"] as? [[String: Any]])
    #expect(attempts.map { $0["duration"] as? String } == ["12.4ms", "1s"])
    #expect((attempts[0]["error"] as? [String: String])?["code"] == "timeout" && attempts[0]["status"] is NSNull)
    #expect(attempts[1]["error"] == nil && attempts[1]["response"] == nil)
    #expect(shown["lastStatus"] as? Int == 200 && shown["lastError"] is NSNull)
    let response = try #require(shown["response"] as? [String: Any])
    #expect(
      response["headers"] as? [String: [String]] == ["content-type": ["text/plain"], "set-cookie": ["a", "b"]])
    #expect(response["body"] as? String == "/w==" && response["encoding"] as? String == "base64")
    #expect(response["truncated"] as? Bool == true)
  }

  @Test("a scheduled call shows its wait reason and until when, in lists without attempts")
  func scheduled() throws {
    let wait = CallView.Wait(reason: .backoff, until: Self.now + .seconds(5))
    let shown = try object { writer in
      CallView.write(call(.queued), attempts: [], wait: wait, detail: .summary, redaction: Redaction(), to: &writer)
    }
    #expect(shown["state"] as? String == "scheduled" && shown["waitingOn"] as? String == "backoff")
    #expect(shown["nextAttemptAt"] as? String == "2026-09-21T14:13:25.123Z")
    #expect(shown["deadlineAt"] as? String == "2026-09-22T14:13:20.123Z")
    #expect(shown["attempts"] == nil && shown["response"] == nil)
    // Events do not know the last attempt.
    #expect(shown["lastStatus"] == nil && shown["lastError"] == nil)
    let listed = try object { writer in
      CallView.write(
        call(.queued), attempts: [], wait: wait, detail: .summary, redaction: Redaction(),
        last: LastAnswer(Self.attempts[0]), to: &writer)
    }
    #expect(listed["lastStatus"] is NSNull && listed["lastError"] as? String == "timeout")
    let failed = try object { writer in
      CallView.write(call(.failed, failure: .tripped), attempts: [], wait: wait, redaction: Redaction(), to: &writer)
    }
    #expect(failed["failureReason"] as? String == "tripped" && failed["waitingOn"] is NSNull)
  }

  @Test("a webhook's payload is type, timestamp and the call")
  func payload() throws {
    let bytes = WebhookPayload.make(
      .callSucceeded, of: call(.succeeded), attempts: Self.attempts, redaction: Redaction(), at: Self.now)
    let shown = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    #expect(Set(shown.keys) == ["type", "timestamp", "data"] && shown["type"] as? String == "call.succeeded")
    #expect((shown["data"] as? [String: Any])?["attemptCount"] as? Int == 2)
  }
}

import Foundation
@testable import RedialClient
import Testing

@Suite("A call as the service shows it")
struct RedialCallTests {
  private static let text = """
    {"id":"call_01","kind":"webhook","state":"paused","failureReason":null,"waitingOn":"ordering",
     "nextAttemptAt":"2026-12-01T09:00:01.000Z","url":"http://a/","method":"GET","target":"http://a","labels":{"k":"v"},
     "priority":9,"orderingKey":"customer-7","redirects":{"max":3},"replayOf":"call_00","policy":"patient@3","contentErasedAt":"2026-12-01T11:00:00.000Z",
     "warnings":[{"code":"c","detail":"d"}],
     "retries":[{"at":"2026-12-01T10:00:00.000Z","afterAttempt":1,"by":"Ada","reason":null}],
     "createdAt":"2026-12-01T09:00:00.123Z","finishedAt":null,"deadlineAt":null,"attemptCount":2,"maxAttempts":25,"lastStatus":null,
     "lastError":"timeout",
     "attempts":[
       {"number":1,"startedAt":"2026-12-01T09:00:00.200Z","outcome":"answered","status":503,"duration":"12.4ms",
        "waited":{"backoff":"500ms","moon":"19.5s"},"decision":{"action":"park","until":"2026-12-01T10:00:00.000Z","because":"x","computed":"1m","jitterFactor":1.224,
                    "clampedBy":["max"]}},
       {"number":2,"startedAt":"2026-12-01T09:00:00.300Z","outcome":"maybeSent","status":null,"duration":"0s",
        "error":{"code":"timeout","message":"took too long"},"decision":null}],
     "response":{"status":503,"headers":{"a":["b","c"]},"body":"/wA=","encoding":"base64","truncated":true},
     "later":{"added":1}}
    """

  @Test("unknown words are kept, and unknown members ignored")
  func reading() throws {
    let call = try JSONDecoder().decode(RedialCall.self, from: Data(Self.text.utf8))
    #expect(call.state == RedialCall.State(rawValue: "paused"))
    #expect(!call.state.isFinal)
    #expect("\(try #require(call.waitingOn))" == "ordering")
    #expect(call.createdAt == Date(timeIntervalSince1970: 1_796_115_600.123))
    #expect(call.kind == .webhook && call.maxRedirects == 3 && call.replayOf == "call_00" && call.policy == "patient@3")
    #expect(call.priority == 9 && call.orderingKey == "customer-7")
    #expect(call.contentErasedAt == Date(timeIntervalSince1970: 1_796_122_800))
    #expect(call.warnings == [RedialCall.Warning(code: "c", detail: "d")])
    #expect(call.retries.map(\.by) == ["Ada"] && call.retries.map(\.reason) == [nil])
    #expect(call.lastStatus == nil && call.lastError == "timeout")
    #expect(call.attempts[0].duration == .microseconds(12_400))
    #expect(call.attempts[0].decision?.computed == .seconds(60))
    #expect(call.attempts[0].decision?.until == Date(timeIntervalSince1970: 1_796_119_200))
    #expect(call.attempts[0].decision?.clampedBy == ["max"])
    #expect(call.attempts[0].waited == ["backoff": .milliseconds(500), "moon": .seconds(19.5)])
    #expect(call.attempts[1].failure?.code == "timeout")
    #expect(call.attempts[1].decision == nil)
    #expect(call.response?.body == Data([0xFF, 0]))
  }

  @Test("a call that is written reads the same")
  func writing() throws {
    var call = try JSONDecoder().decode(RedialCall.self, from: Data(Self.text.utf8))
    #expect(try JSONDecoder().decode(RedialCall.self, from: JSONEncoder().encode(call)) == call)
    call.response = RedialCallResponse(status: nil, headers: [:], body: Data("grüße".utf8), isTruncated: false)
    let written = try JSONEncoder().encode(call)
    #expect(String(decoding: written, as: UTF8.self).contains("utf8"))
    #expect(try JSONDecoder().decode(RedialCall.self, from: written) == call)
  }

  @Test(
    "a text that is not a time or a duration is an error that says so",
    arguments: ["12.4ms", "2026-12-01T09:00:00.200Z"])
  func malformed(part: String) {
    let text = Self.text.replacingOccurrences(of: part, with: "soon")
    let error = #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(RedialCall.self, from: Data(text.utf8))
    }
    #expect(error.map { "\($0)" }?.contains("soon is no") == true)
  }
}

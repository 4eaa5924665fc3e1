import RedialCore
import Testing

@testable import RedialModel

@Suite("Replays")
struct CallReplayTests {
  private static func original(_ json: String) throws -> CallRecord {
    let descriptor = try Array(json.utf8).withUnsafeBufferPointer { try CallDescriptor.read($0) }
    let start = Timestamp(microseconds: 0)
    return CallRecord(
      id: CallID(rawValue: 7), kind: .call, spec: descriptor.spec, body: descriptor.body, createdAt: start,
      progress: CallProgress(state: .succeeded, due: start, roundStartedAt: start))
  }

  private static func replay(_ original: CallRecord, _ changes: String) throws(Problem) -> CallDescriptor {
    let replay = try read(changes)
    return try replay.descriptor(
      of: original, body: replay.keepsBody ? original.body : [], limits: CallDescriptor.Limits(), Redaction())
  }

  private static func read(_ changes: String) throws(Problem) -> CallReplay {
    let bytes = Array(changes.utf8)
    return try bytes.withUnsafeBufferPointer { buffer throws(Problem) in try CallReplay.read(buffer) }
  }

  @Test("without changes everything is as in the original")
  func same() throws {
    let original = try Self.original(
      """
      {"url": "https://example.com/a", "json": {"n": 1}, "headers": {"authorization": "x", "x-a": ["1", "2"]},
       "labels": {"a": "b"}, "priority": 7, "orderingKey": "k", "target": "billing", "redirects": {"max": 2},
       "callback": {"url": "https://me.example.com/"}, "policy": {"maxAttempts": 3}, "idempotent": true,
       "capture": {"maxBytes": 10, "redactHeaders": ["x-a"]}}
      """)
    for changes in ["", "{}"] {
      let again = try Self.replay(original, changes)
      #expect(again.spec.replayOf == original.id && again.body == original.body)
      #expect(again.spec.canonicalJSON != original.spec.canonicalJSON)
      let text = String(decoding: again.spec.canonicalJSON, as: UTF8.self)
      #expect(
        text.replacing(",\"replayOf\":\"\(original.id)\"", with: "")
          == String(decoding: original.spec.canonicalJSON, as: UTF8.self))
    }
  }

  @Test("a delay is stored with its call, and is over for a replay that names none")
  func delay() throws {
    let original = try Self.original(#"{"url": "https://example.com/a", "delay": "90m"}"#)
    let stored = try original.spec.canonicalJSON.withUnsafeBufferPointer { try CallSpec.read(canonicalJSON: $0) }
    #expect(stored.delay == .seconds(5400))
    #expect(!String(decoding: original.spec.redactedJSON(Redaction()), as: UTF8.self).contains("delay"))
    #expect(try Self.replay(original, "").start == .after(.zero))
    #expect(try Self.replay(original, #"{"delay": "1s"}"#).spec.delay == .seconds(1))
    let named = try Self.replay(original, #"{"startAt": "2026-12-01T09:00:00Z"}"#)
    #expect(named.spec.delay == .zero && named.start != .after(.zero))
  }

  @Test("what is signed by a secret of its own is changed only with the secret")
  func signed() throws {
    let sign = #"{"type": "github", "secret": "it's a secret"}"#
    let original = try Self.original(#"{"url": "https://example.com/a", "json": 1, "sign": \#(sign)}"#)
    for change in [
      #""url": "https://evil.example/""#, #""method": "PUT""#, #""json": 2"#, #""body": null"#,
      #""bodyBase64": "eA==""#,
      #""headers": {}"#, #""redirects": {"max": 1}"#,
    ] {
      let problem = try #require(throws: Problem.self) { try Self.replay(original, "{\(change)}") }
      #expect(problem.errors.first?.detail.contains("without \"sign\"") == true, "\(change)")
      #expect(throws: Never.self) { try Self.replay(original, "{\(change), \"sign\": \(sign)}") }
      #expect(throws: Never.self) { try Self.replay(original, "{\(change), \"sign\": null}") }
    }
    #expect(try Self.replay(original, #"{"delay": "1s", "labels": {"a": "b"}}"#).spec.signing == original.spec.signing)
  }

  @Test(
    "only changes that could reveal the original count as such",
    arguments: [
      ("{\"delay\": \"1s\", \"labels\": {}}", false), ("{\"url\": \"https://example.com/\"}", true),
      ("{\"body\": null}", true), ("{\"json\": 1}", true), ("{\"headers\": {}}", true), ("{\"method\": \"PUT\"}", true),
      ("", false), ("{\"policy\": {}, \"priority\": 1, \"target\": \"a\"}", false), ("{\"capture\": {}}", true),
      ("{\"callback\": {\"url\": \"https://me.example.com/\"}}", true), ("{\"redirects\": {\"max\": 1}}", true),
      ("{\"unknown\": 1}", true),
    ])
  func request(changes: String, isChanged: Bool) throws {
    #expect(try Self.read(changes).canReveal == isChanged)
  }

  @Test(
    "secrets stay with their origin, unless the header is given anew",
    arguments: [
      ("{\"url\": \"https://example.com/b\"}", true), ("{\"url\": \"https://other.example.com/\"}", false),
      ("{\"url\": \"http://example.com/a\"}", false),
      (
        "{\"url\": \"https://other.example.com/\", \"headers\": {}}", true
      ),
    ])
  func secrets(changes: String, isAccepted: Bool) throws {
    let original = try Self.original("{\"url\": \"https://example.com/a\", \"headers\": {\"Authorization\": \"x\"}}")
    do throws(Problem) {
      _ = try Self.replay(original, changes)
      #expect(isAccepted)
    } catch {
      #expect(!isAccepted && error.errors.first?.pointer == "/headers")
    }
  }

  @Test("a repeated member is refused, and so is one that only Redial writes")
  func refused() throws {
    let original = try Self.original("{\"url\": \"https://example.com/a\"}")
    for changes in [
      "{\"delay\": \"1s\", \"delay\": \"2s\"}", "{\"replayOf\": \"\(original.id)\"}", "{\"polcy\": 1}", "[]",
    ] {
      let problem = #expect(throws: Problem.self) { try Self.replay(original, changes) }
      #expect(problem?.status == 422)
    }
    #expect(#expect(throws: Problem.self) { try Self.replay(original, "{") }?.status == 400)
  }
}

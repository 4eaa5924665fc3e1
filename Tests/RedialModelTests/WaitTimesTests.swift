import Foundation
import RedialCore
import RedialJSON
import Testing

@testable import RedialModel

@Suite("How long calls waited for what")
struct WaitTimesTests {
  private static let now = Timestamp(microseconds: 1_790_000_000_000_000)

  private static func call(attemptsBefore: Int = 0, roundAfter delay: Duration = .zero) -> CallRecord {
    CallRecord(
      id: CallID(rawValue: 1_790_000_000_123 << 20), kind: .call,
      spec: CallSpec(
        url: "https://api.example.com/", method: "POST", headers: [], target: "t", policy: .service, captureLimit: 10),
      body: [], createdAt: now,
      progress: CallProgress(
        state: .succeeded, due: now, attempts: 3, attemptsBefore: attemptsBefore, roundStartedAt: now + delay))
  }

  private static func attempt(
    _ number: Int, at seconds: Double, took: Double = 1, _ action: RetryDecision.Action, held: HeldTimes? = nil,
    waitsFor: WaitReason? = nil
  ) -> AttemptRecord {
    AttemptRecord(
      number: number, startedAt: now + Duration(clampingSeconds: seconds), duration: Duration(clampingSeconds: took),
      outcome: .answered, status: 200, decision: AttemptDecision(action, waitsFor: waitsFor, held: held))
  }

  private static func shown(_ times: WaitTimes) throws -> [String: String] {
    var writer = JSONWriter()
    times.write(to: &writer)
    return try #require(try JSONSerialization.jsonObject(with: Data(writer.bytes)) as? [String: String])
  }

  @Test("before a retry: the backoff, and what held it back after that")
  func retry() throws {
    var held = HeldTimes()
    held.add(.pace, .seconds(12))
    held.add(.breaker, .seconds(30))
    let attempts = [
      Self.attempt(1, at: 0.02, .retry(after: .seconds(2))), Self.attempt(2, at: 23.02, .succeed, held: held),
    ]
    let times = WaitTimes.before(attempts, of: Self.call())
    #expect(try Self.shown(times[0]) == [:])
    // It began 20 seconds after it was due: 12 of them for the pace, and the rest for the breaker.
    #expect(try Self.shown(times[1]) == ["backoff": "2s", "pace": "12s", "breaker": "8s"])
  }

  @Test("a wait that nobody has recorded is the service's, and one that is short is none")
  func unknown() throws {
    let attempts = [
      Self.attempt(1, at: 0.05, .retry(after: .seconds(2))),
      Self.attempt(2, at: 5.05, .park(until: Self.now + .seconds(9))),
      Self.attempt(3, at: 9.2, .succeed),
    ]
    let times = try WaitTimes.before(attempts, of: Self.call()).map(Self.shown)
    #expect(times == [[:], ["backoff": "2s", "service": "2s"], ["backoff": "2.95s", "service": "200ms"]])
  }

  @Test("the first attempt waits since the acceptance, that of a manual retry since it was asked for")
  func rounds() throws {
    var held = HeldTimes(before: .ordering)
    held.add(.concurrency, .seconds(1))
    let first = Self.attempt(1, at: 10, .stop(.attemptsExhausted), held: held)
    #expect(
      try Self.shown(WaitTimes.before([first], of: Self.call(roundAfter: .seconds(4)))[0])
        == ["startTime": "4s", "concurrency": "1s", "ordering": "5s"])
    // Of the round before nobody knows any more when it was due.
    let second = Self.attempt(2, at: 100, .succeed, held: held)
    let times = try WaitTimes.before([first, second], of: Self.call(attemptsBefore: 1, roundAfter: .seconds(95)))
      .map(Self.shown)
    #expect(times[1] == ["concurrency": "1s", "ordering": "4s"])
  }

  @Test("what follows a manual retry during a backoff is no backoff, and no wait of an earlier round is lost")
  func manual() throws {
    var held = HeldTimes(isExact: true)
    held.add(.paused, .seconds(180))
    let attempts = [
      Self.attempt(1, at: 0, .retry(after: .seconds(600))),
      Self.attempt(2, at: 241, .stop(.notRetryable), held: held),
      Self.attempt(3, at: 1000, .retry(after: .seconds(5)), held: held),
      Self.attempt(4, at: 2000, .succeed),
    ]
    let times = try WaitTimes.before(attempts, of: Self.call(attemptsBefore: 3, roundAfter: .seconds(2000))).map(
      Self.shown)
    #expect(times == [[:], ["backoff": "1m", "paused": "3m"], ["paused": "3m"], [:]])
  }

  @Test("what is stored with a decision is read again, up to its bound, and a reason of a newer version is the service")
  func stored() throws {
    var held = HeldTimes(before: .retryBudget)
    for place in 0..<20 { held.add(place % 2 == 0 ? .pace : nil, .milliseconds(100 + place)) }
    #expect(held.parts.count == HeldTimes.most)
    // Beyond that the order is lost, but no time.
    let times = held.times()
    #expect(times[.pace] == .milliseconds(1090) && times[nil] == .milliseconds(1100))
    let decision = AttemptDecision(.retry(after: .seconds(1)), waitsFor: .retryAfter, held: held)
    #expect(try AttemptDecision(json: decision.json) == decision)
    var early = HeldTimes()
    early.add(.pace, .seconds(1))
    let queued = AttemptDecision(.retry(after: .seconds(1)), held: early)
    #expect(try AttemptDecision(json: queued.json) == queued && !early.isExact)
    var shown = JSONWriter()
    decision.write(to: &shown)
    #expect(!String(decoding: shown.bytes, as: UTF8.self).contains("held"))
    let newer = "{\"action\":\"succeed\",\"held\":[77,3000,10,1000,99]}"
    let read = try AttemptDecision(json: Array(newer.utf8))
    #expect(read.held?.parts == [.init(nil, .seconds(3)), .init(.pace, .seconds(1))] && read.held?.before == nil)
  }
}

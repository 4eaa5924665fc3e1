import Dispatch
import HTTPServer
import RedialCore
import RedialJSON
@testable import RedialModel
import Synchronization
import Testing

@testable import RedialService

/// A batch that keeps the problems of its items.
private final class RecordingBatch: BatchAnswering {
  let replays = ReplayQueue()
  let answered = DispatchSemaphore(value: 0)
  private let kept = Mutex([Problem]())

  var problems: [Problem] { kept.withLock { $0 } }
  var responder: HTTPResponder { preconditionFailure("only the engine's answers go to the event loop") }

  func answer(
    _ index: Int, id: CallID, status: Int, repetition: IdempotencyStatus?, call: (inout JSONWriter) -> Void
  ) {
    Issue.record("\(id) was shown")
    answered.signal()
  }

  func answer(_ index: Int, _ problem: Problem) {
    kept.withLock { $0.append(problem) }
    answered.signal()
  }
}

@Suite("Submissions that repeat calls which cannot be read")
struct RepetitionTests {
  private static let key = IdempotencyKey("k", fingerprint: [1])
  private static let known = KeyRecord(
    key: key, call: CallID(rawValue: 7), createdAt: .epoch, expiresAt: .distantFuture)
  private static let refusal = Problem(.invalidDescriptor, detail: "d")

  private static func runtime() throws -> Runtime {
    let runtime = try Runtime(
      settings: ServiceSettings(), store: RecordingStore(known: known), reader: EmptyReader(),
      secret: WebhookSecret.random(), endpoints: WebhookEndpoints(limit: 1, disableAfter: .seconds(1)),
      credentials: NamedCredentials(),
      log: Log(format: .text, level: .error))
    runtime.begin(with: RecoveredState())
    return runtime
  }

  @Test("a call that is gone whenever it is read does not keep its client forever, which may try again")
  func alwaysGone() throws {
    let (runtime, batch) = (try Self.runtime(), RecordingBatch())
    let spec = CallSpec(
      url: "http://127.0.0.1:9", method: "GET", headers: [], target: "t", policy: .service, captureLimit: 100)
    var descriptor = CallDescriptor(spec: spec, body: [], start: .after(.zero))
    descriptor.key = Self.key
    runtime.engine.post([runtime.intake.event(descriptor, of: .item(batch, index: 0))])
    #expect(batch.answered.wait(timeout: .now() + 60) == .success)
    let problem = try #require(batch.problems.first)
    #expect((problem.status, problem.code, problem.retryAfter) == (503, .callRemoved, 1))
    #expect(problem.detail.contains("\(Self.known.call)"))
    runtime.drain(within: .seconds(60))
  }

  @Test("what cannot be accepted and was not accepted under its key is refused for its own reason")
  func refused() throws {
    let (runtime, batch) = (try Self.runtime(), RecordingBatch())
    runtime.intake.refuse(Self.refusal, unlessRepeatedUnder: Self.key, .item(batch, index: 0))
    #expect(batch.answered.wait(timeout: .now() + 60) == .success)
    #expect(batch.problems == [Self.refusal])
    runtime.drain(within: .seconds(60))
  }
}

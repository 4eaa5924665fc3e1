import Polling
import Dispatch
import RedialCore
import RedialEngine
@testable import RedialModel
import RedialStore
import Testing

@testable import RedialService

/// A reader of nothing.
struct EmptyReader: CallReader {
  func call(_ id: CallID, in namespace: Namespace?, allResponses: Bool) throws(StoreError) -> StoredCall? { nil }
  func attempts(of id: CallID, in namespace: Namespace, withBodies: Bool) throws(StoreError) -> [AttemptRecord]? { nil }
  func records(of ids: [CallID]) throws(StoreError) -> [Result<CallRecord, StoreError>?] { ids.map { _ in nil } }
  func keys(_ names: [IdempotencyName], at now: Timestamp) throws(StoreError) -> [KeyRecord?] { names.map { _ in nil } }
  func calls(_ query: CallQuery) throws(StoreError) -> CallPage<StoredCall> { CallPage(calls: [], next: nil) }
  func ids(_ query: CallQuery) throws(StoreError) -> CallPage<CallID> { CallPage(calls: [], next: nil) }
  func usage() throws(StoreError) -> StoreUsage { StoreUsage(usedBytes: 0, freeBytes: 0, finished: []) }
  func statistics(
    of namespace: Namespace, by step: StatisticsStep, from time: Timestamp
  ) throws(StoreError) -> [(start: Timestamp, tally: CallTally)] { [] }
  func failed(_ query: FailedQuery) throws(StoreError) -> [FailedCalls] { [] }
  func lateness(at now: Timestamp) throws(StoreError) -> LateCalls { LateCalls() }
  func ping() throws(StoreError) {}
  func backlog(of target: TargetKey?, in namespace: Namespace, limit: Int) throws(StoreError) -> StoredBacklog {
    StoredBacklog(isComplete: true)
  }
  func ended(among ids: [CallID]) throws(StoreError) -> [CallID] { [] }
  func documents(_ kind: StoredDocument.Kind) throws(StoreError) -> [StoredDocument] { [] }
  func documents(
    _ kind: StoredDocument.Kind, in ids: Range<String>, limit: Int
  ) throws(StoreError) -> [StoredDocument] { [] }
  func setting(_ name: String) throws(StoreError) -> String? { nil }
  var connections: Int { 4 }
}

@Suite("The end of the lanes")
struct RuntimeStopTests {
  private static func runtime(_ store: RecordingStore) throws -> Runtime {
    let secret = try #require(WebhookSecret.random())
    let runtime = try Runtime(
      settings: ServiceSettings(), store: store, reader: EmptyReader(), secret: secret,
      endpoints: WebhookEndpoints(limit: 1, disableAfter: .seconds(1)),
      credentials: NamedCredentials(), log: Log(format: .text, level: .error))
    runtime.begin(with: RecoveredState())
    return runtime
  }

  // Found by setting the wall clock back while the service stopped: its store's lane used a freed object and the
  // process died.
  @Test("a store that hangs longer than the stop finds its lane's objects when it continues")
  func hangingStore() throws {
    let gate = DispatchSemaphore(value: 0)
    let store = RecordingStore(gate: gate)
    weak var left: Runtime?
    do {
      let runtime = try Self.runtime(store)
      let spec = CallSpec(
        url: "http://127.0.0.1:9", method: "GET", headers: [], target: "t", policy: .service, captureLimit: 100)
      let descriptor = CallDescriptor(spec: spec, body: [], start: .after(.seconds(3600)))
      runtime.engine.post(.submit(descriptor, ReplyToken(rawValue: 1)))
      runtime.drain(within: .milliseconds(10), storePatience: .milliseconds(10))
      left = runtime
    }
    #expect(left != nil)
    gate.signal()
    gate.signal()
  }

  @Test("a stop in time leaves nothing behind")
  func inTime() throws {
    weak var left: Runtime?
    do {
      let runtime = try Self.runtime(RecordingStore())
      runtime.drain(within: .seconds(60), storePatience: .seconds(60))
      left = runtime
    }
    // A lane that has reported its last result may still be on its way out.
    poll("the runtime is still there") { left == nil }
  }
}

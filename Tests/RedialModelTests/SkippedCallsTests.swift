import RedialCore
import RedialJSON
import Testing

@testable import RedialModel

@Suite("Calls that an operation would skip")
struct SkippedCallsTests {
  private static let now = Timestamp(microseconds: 1_790_000_000_000_000)

  private func reason(
    _ action: BulkOperation.Action, of state: StoredState, endedAt: Timestamp? = nil, isErased: Bool = false
  ) -> SkippedCalls.Reason? {
    var filter = CallFilter()
    filter.states = Set(action.states.allowed)
    let request = BulkRequest(
      action: action, filter: filter, ratePerSecond: 1, attribution: Attribution(), isDryRun: true)
    let spec = CallSpec(
      url: "http://a/", method: "GET", target: TargetKey("a", in: .default), policy: .service, captureLimit: 0
    ) { $0.contentErasedAt = isErased ? Self.now : nil }
    let call = CallRecord(
      id: CallID(rawValue: 1), kind: .call, spec: spec, body: [], createdAt: Self.now,
      progress: CallProgress(state: state, due: Self.now, roundStartedAt: Self.now, finishedAt: endedAt))
    return request.skipReason(of: call, foundAt: Self.now)
  }

  @Test("a call whose payloads were erased is not run again, but can be removed")
  func erased() {
    #expect(reason(.retry, of: .failed, endedAt: Self.now, isErased: true) == .contentErased)
    #expect(reason(.retry, of: .failed, endedAt: Self.now) == nil)
    #expect(reason(.purge, of: .failed, endedAt: Self.now, isErased: true) == nil)
  }

  @Test("a call that has changed since it was found is skipped")
  func changed() {
    #expect(reason(.retry, of: .running) == .stateChanged)
    #expect(reason(.cancel, of: .succeeded, endedAt: Self.now) == .stateChanged)
    #expect(reason(.cancel, of: .queued) == nil && reason(.release, of: .scheduled) == nil)
    #expect(reason(.retry, of: .failed, endedAt: Self.now + .milliseconds(1), isErased: true) == .stateChanged)
  }

  @Test("they are counted by reason, beside how many were checked")
  func counts() {
    var skipped = SkippedCalls()
    for reason in [.contentErased, nil, .stateChanged, .contentErased] as [SkippedCalls.Reason?] { skipped.add(reason) }
    var writer = JSONWriter()
    skipped.write(to: &writer)
    #expect(
      String(decoding: writer.bytes, as: UTF8.self)
        == #"{"calls":3,"checked":4,"reasons":{"contentErased":2,"stateChanged":1}}"#)
  }
}

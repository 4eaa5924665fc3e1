import RedialCore
import RedialModel
import StoreConformance
import Testing

@testable import RedialSQLite
@testable import RedialStore

@Suite("Labels in the store")
struct StoredLabelTests {
  let folder = TemporaryFolder()

  @Test(
    "a removed call leaves no label behind, whatever its spec contains",
    arguments: [
      "SELECT 1", "UPDATE requests SET spec = x'7b00'", "UPDATE requests SET spec = x'7b7d7d'", "DELETE FROM requests",
      // Still a spec, but with other labels; one whose last label is cut off.
      "UPDATE requests SET spec = CAST(replace(CAST(spec AS TEXT), '\"a\"', '\"z\"') AS BLOB)",
      "UPDATE requests SET spec = CAST(replace(CAST(spec AS TEXT), '\"a\"', '') AS BLOB)",
    ])
  func removedLabels(damage: String) throws {
    let path = folder.file("calls.db")
    let store = try SQLiteStore(path: path)
    defer { store.close() }
    let acme = try #require(Namespace("acme"))
    let labels = [
      CallSpec.Label(name: "team \"x\"", value: "a"), .init(name: "é", value: "\n"), .init(name: "a", value: ""),
    ]
    func call(_ number: Int, in namespace: Namespace, header: HeaderField?) -> CallRecord {
      let spec = CallSpec(
        url: "https://example.com/\"labels\":{", method: "POST", headers: header.map { [$0] } ?? [],
        target: TargetKey("t", in: namespace), policy: .service, captureLimit: 0
      ) { $0.labels = labels }
      return CallRecord(
        id: Sample.id(number), kind: .call, spec: spec, body: [], createdAt: Sample.start,
        progress: Sample.call(number, .succeeded).progress)
    }
    // A header field that looks like labels, or like a namespace, comes before them.
    let calls = [
      call(1, in: .default, header: nil), call(2, in: acme, header: nil),
      call(3, in: acme, header: HeaderField("labels", "x")),
      call(4, in: .default, header: HeaderField("namespace", "acme")),
      Sample.call(5, .succeeded), Sample.call(6, .succeeded, kind: .webhook, labels: labels),
    ]
    let other = call(7, in: acme, header: nil)
    try store.commit((calls + [other]).map { .insert($0) })
    try store.file.connection.execute(
      "prepare the test", damage + (damage == "SELECT 1" ? "" : " WHERE id < \(other.id.rawValue)"))
    try store.commit(calls.map { .discard($0.id) })
    let left = try store.file.connection.prepare("check", "SELECT DISTINCT call_id FROM labels").rows {
      row throws(StoreError) in CallID(rawValue: row.integer(0))
    }
    #expect(left == [other.id])
    let number = try store.file.connection.value("check", "SELECT count(*) FROM labels") { $0.integer(0) }
    #expect(number == Int64(labels.count))
  }

  @Test("a webhook is not found by the label that names its event, and its call's own label is")
  func webhookLabels() throws {
    let path = folder.file("calls.db")
    let store = try SQLiteStore(path: path)
    defer { store.close() }
    let label = CallSpec.Label(name: "event", value: "call.failed")
    let webhook = Sample.call(1, kind: .webhook, labels: [label])
    let call = Sample.call(2, labels: [label])
    try store.commit([.insert(webhook), .insert(call)])
    let reader = try SQLiteReader(path: path, connections: 1, beside: store)
    #expect(try reader.ids(CallQuery(CallFilter(labels: [label]))).calls == [call.id])
  }

  @Test("a whole spec says that a call has no labels, or which, and one that is cut off says nothing")
  func wholeSpecs() {
    for change in [{ _ in }, { $0.policyName = "default" }, { $0.hops = 3 }] as [(inout CallFields) -> Void] {
      for labels in [[], [CallSpec.Label(name: "a", value: "b")]] {
        let spec = CallSpec(url: "http://a/", method: "GET", target: "t", policy: .service, captureLimit: 1) {
          $0.labels = labels
          change(&$0)
        }.canonicalJSON
        func removed(_ bytes: some Collection<UInt8>) -> RemovedLabels {
          Array(bytes).withUnsafeBufferPointer { RemovedLabels(spec: $0) }
        }
        switch removed(spec) {
        case .none: #expect(labels.isEmpty)
        case .listed(let found): #expect(!labels.isEmpty && found == spec)
        case .unknown: Issue.record("\(String(decoding: spec, as: UTF8.self))")
        }
        guard case .unknown = removed(spec.dropLast()) else {
          Issue.record("cut off")
          continue
        }
      }
    }
  }
}

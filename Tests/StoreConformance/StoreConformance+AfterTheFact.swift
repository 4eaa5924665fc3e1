import RedialCore
import RedialModel
import RedialStore
import Testing

extension StoreConformance {
  /// Data of calls besides their attempts, and erased content.
  package func afterTheFact() throws {
    let store = try openStore()
    let (call, other) = (Sample.call(1, .failed), Sample.call(2, .failed))
    func retry(_ number: Int) -> ManualRetry {
      ManualRetry(
        at: Sample.time(number), afterAttempt: number,
        attribution: Attribution(by: number == 1 ? nil : "ada", reason: number == 2 ? nil : "reason \(number)"))
    }
    for record in [call, other] {
      try store.commit([.insert(record), .update(record.id, record.progress, Sample.attempt(1))])
    }
    // The second of two equal ones is the same retry, written again.
    try store.commit([retry(1), retry(2), retry(2)].map { .retried(call.id, $0) })
    let erasedAt = Timestamp(microseconds: 1_790_000_000_123_000)
    try store.commit([.erase(call.id, call.spec.erased(at: erasedAt))])
    store.close()
    let again = try openStore()
    defer { again.close() }
    let reader = try openReader(again)
    let found = try #require(try reader.call(call.id, allResponses: true))
    #expect(found.record.retries == [retry(1), retry(2)])
    #expect(found.record.spec.contentErasedAt == erasedAt && found.record.spec.headers.isEmpty)
    #expect(found.record.body.isEmpty && found.attempts.map(\.response) == [nil])
    #expect(found.attempts.map(\.status) == [503])
    let heads = try #require(try reader.attempts(of: other.id, withBodies: false))
    #expect(heads.map { $0.response?.body } == [[]] && heads[0].response?.head.bytes.isEmpty == false)
    #expect(try reader.attempts(of: other.id, withBodies: true)?.map { $0.response?.body } == [[1]])
    #expect(try reader.attempts(of: Sample.id(99), withBodies: true) == nil)
    for number in 3...(ManualRetry.mostKept + 5) { try again.commit([.retried(call.id, retry(number))]) }
    let kept = try #require(try reader.call(call.id, allResponses: false)).record.retries
    #expect(kept.map(\.afterAttempt) == Array(6...(ManualRetry.mostKept + 5)))
    try labels(again, reader)
    try statistics(again, reader)
    try again.commit([.discard(call.id), .insert(call)])
    #expect(try reader.call(call.id, allResponses: false)?.record.retries.isEmpty == true)
  }

  /// Labels are found until they are erased.
  private func labels(_ store: any CallStore, _ reader: any CallReader) throws {
    let label = CallSpec.Label(name: "customer", value: "ada")
    let call = Sample.call(50, .failed, labels: [label])
    try store.commit([.insert(call), .erase(call.id, call.spec.erased(at: Sample.start))])
    #expect(try reader.ids(CallQuery(CallFilter(labels: [label]))).calls == [call.id])
    try store.commit([.erase(call.id, call.spec.erased(at: Sample.start, keepingLabels: false))])
    #expect(try reader.ids(CallQuery(CallFilter(labels: [label]))).calls.isEmpty)
    #expect(try reader.call(call.id, allResponses: false)?.record.spec.labels.isEmpty == true)
  }

  /// Tallies are added to those of their minute and hour, by namespace, and old ones are removed.
  private func statistics(_ store: any CallStore, _ reader: any CallReader) throws {
    let minute = Timestamp(microseconds: 1_790_000_040_000_000)
    let other = try #require(Namespace("acme"))
    var tally = CallTally()
    tally.countEnd(.failed, isRetried: false, after: .seconds(1))
    tally.countAttempt(.seconds(1), succeeded: false, ended: true)
    func steps(_ step: StatisticsStep, _ namespace: Namespace = .default) throws -> [CallTally] {
      try reader.statistics(of: namespace, by: step, from: Timestamp(microseconds: 0)).map(\.tally)
    }
    func add(_ tally: CallTally, after seconds: Int64) throws {
      let start = Timestamp(microseconds: minute.microseconds + seconds * 1_000_000)
      try store.commit([.tallied([MinuteTally(namespace: .default, minute: start, tally: tally)])])
    }
    try add(tally, after: 0)
    try add(tally, after: 0)
    #expect(try steps(.minute).map(\.failed) == [2] && steps(.hour).map(\.attempts.failures) == [2])
    #expect(try steps(.minute, other).isEmpty)
    try add(tally, after: 60)
    #expect(try steps(.minute).map(\.failed) == [2, 1] && steps(.hour).map(\.failed) == [3])
    try add(tally, after: 3 * 3600)
    #expect(try steps(.minute).map(\.failed) == [1] && steps(.hour).map(\.failed) == [3, 1])
    try add(tally, after: 9 * 86_400)
    #expect(try steps(.minute).map(\.failed) == [1] && steps(.hour).map(\.failed) == [1])
    let later = Timestamp(microseconds: minute.microseconds + 10 * 86_400 * 1_000_000)
    #expect(try reader.statistics(of: .default, by: .hour, from: later).isEmpty)
  }
}

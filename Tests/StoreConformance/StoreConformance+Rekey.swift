import RedialCore
package import RedialModel
package import RedialStore
import Testing

/// Calls and attempts in every form in which a service stores them.
package enum RowForms {
  /// The last forms are those of calls whose rows a test damages.
  package static let damaged = [901, 902]

  private static let heads = [HeaderBlock(), HeaderBlock(bytes: Array("retry-after: 3\r\n".utf8))]
  private static let bodies: [[UInt8]] = [[], [7], Array(repeating: 65, count: 10_000)]

  private static let responses: [CapturedResponse?] =
    [nil]
    + heads.flatMap { head in
      bodies.flatMap { body in
        [false, true].map { CapturedResponse(head: head, body: body, truncated: $0) }
      }
    }

  private static let failures: [AttemptFailure?] = [
    nil, AttemptFailure(code: "timeout", message: "It took too long – é."), AttemptFailure(code: "reset", message: ""),
    AttemptFailure(code: "odd", message: "a\0b\u{F8FF}c\u{F8FF}0"),
  ]

  /// Each with its number behind others.
  static func attempts(_ number: Int) -> [AttemptRecord] {
    failures.flatMap { failure in
      responses.map { response in
        AttemptRecord(
          number: number, startedAt: Sample.time(number), duration: .milliseconds(5),
          outcome: response != nil ? .answered : failure == nil ? .interrupted : .maybeSent,
          status: response.map { _ in 503 }, failure: failure, response: response)
      }
    }
  }

  /// Specs: ordinary, with a secret, sensitive, with what has been erased.
  static func specs(_ target: TargetKey) -> [CallSpec] {
    let callback = Callback(url: "https://me.example.com/hooks", events: [.callFailed])
    let plain = Sample.spec(
      target: target, callback: callback, orderingKey: nil, labels: [CallSpec.Label(name: "a", value: "b")])
    var sensitive = plain.fields
    sensitive.isSensitive = true
    return [plain, CallSpec(sensitive)]
  }

  /// Commits them; returns the ids of all calls.
  package static func fill(_ store: any CallStore) throws -> [CallID] {
    var (ids, number) = ([CallID](), 0)
    func call(_ spec: CallSpec, _ state: StoredState, _ body: [UInt8], _ kind: CallKind = .call) -> CallRecord {
      number += 1
      var progress = Sample.call(number, state, due: Sample.time(1_000_000)).progress
      progress.attempts = 1
      ids.append(Sample.id(number))
      return CallRecord(
        id: Sample.id(number), kind: kind, spec: spec, body: body, createdAt: Sample.start, progress: progress)
    }
    let targets: [TargetKey] = [
      "https://example.com", TargetKey("https://example.com", in: Namespace("acme") ?? .default),
    ]
    // Bodies and specs, without attempts.
    for target in targets {
      for spec in specs(target) {
        for body in [[], [1], Array(repeating: 66, count: 100_000)] as [[UInt8]] {
          for state in [StoredState.held, .succeeded] { try store.commit([.insert(call(spec, state, body))]) }
          let erased = call(spec, .failed, body)
          try store.commit([.insert(erased), .update(erased.id, erased.progress, Sample.attempt(1))])
          try store.commit([.erase(erased.id, erased.spec.erased(at: Sample.start))])
        }
      }
    }
    // An attempt that is stored with its call, and one in a row of its own.
    for (index, (first, second)) in zip(attempts(1), attempts(2)).enumerated() {
      let target = targets[index % 2]
      let spec = specs(target)[0]
      let ended = call(spec, .failed, [9])
      let held = call(spec, .held, [9], .webhook)
      var progress = held.progress
      try store.commit(
        [ended, held].flatMap {
          [StoreWrite.insert($0), StoreWrite.update($0.id, $0.progress, attempt(first, target))]
        })
      progress.attempts = 2
      try store.commit([.update(held.id, progress, attempt(second, target))])
    }
    for damaged in damaged {
      let record = Sample.call(damaged, .failed)
      try store.commit([.insert(record), .update(record.id, record.progress, Sample.attempt(1))])
    }
    return ids
  }

  private static func attempt(_ attempt: AttemptRecord, _ target: TargetKey) -> AttemptRecord {
    var attempt = attempt
    attempt.namespace = target.namespace
    return attempt
  }
}

extension StoreConformance {
  /// Calls and attempts in every form are sealed again, and read as before; what is damaged stays as it is.
  ///
  /// - Parameters:
  ///   - damage: Changes the stored descriptor of a call, so that it cannot be read.
  ///   - rekey: Seals all that the store has again. No store is open meanwhile.
  package func rekey(damage: (CallID) throws -> Void, rekey: () throws -> Void) throws {
    var store = try openStore()
    let ids = try RowForms.fill(store)
    func read() throws -> [ReadCall] {
      let reader = try openReader(store)
      return try ids.map { id in
        let found = try #require(try reader.call(id, allResponses: true))
        return ReadCall(call: ComparableCall(found.record), attempts: found.attempts)
      }
    }
    let before = try read()
    store.close()
    for number in RowForms.damaged { try damage(Sample.id(number)) }
    for round in 1...2 {
      try rekey()
      store = try openStore()
      for (old, new) in zip(before, try read()) { #expect(old == new, "\(old.call.id) in round \(round)") }
      for number in RowForms.damaged {
        let reader = try openReader(store)
        let error = #expect(throws: StoreError.self) { try reader.call(Sample.id(number), allResponses: true) }
        #expect(error?.kind == .corrupt)
      }
      store.close()
    }
    store = try openStore()
    defer { store.close() }
    // What was sealed again can be erased.
    var rule = Retention(time: .seconds(1_000_000))
    rule.payloadTime = .seconds(100)
    for _ in 0..<10_000 where try !store.tidy(rule, at: Sample.time(10_000), within: .seconds(1)).isDone {}
    for call in try read() where call.call.progress.state.isFinal { #expect(call.call.body.isEmpty) }
  }

  private struct ReadCall: Equatable {
    let call: ComparableCall
    let attempts: [AttemptRecord]
  }
}

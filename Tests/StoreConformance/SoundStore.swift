package import RedialModel

/// A store without faults, with calls of all kinds, for the tests of inspections.
package enum SoundStore {
  /// Calls with ordering keys; the first of each ten has the turn.
  package static let ordered = [20, 21, 22, 30]
  /// A call that has ended.
  package static let ended = 8
  /// The number of calls.
  package static let count = StoredState.allCases.count * 2 + ordered.count

  /// Makes the commits: calls in all states with two attempts each, half of them webhooks, and ordered ones.
  package static func fill(_ commit: ([StoreWrite]) throws -> Void) throws {
    for (offset, state) in StoredState.allCases.enumerated() {
      for number in [offset * 2, offset * 2 + 1] {
        let call = Sample.call(
          number, state, due: Sample.time(100), kind: number % 2 == 0 ? .call : .webhook, body: body(about: offset * 2))
        var progress = call.progress
        progress.attempts = 2
        let attempts = [Sample.attempt(1), Sample.attempt(2)]
        try commit([.insert(call)] + attempts.map { .update(call.id, progress, $0) })
      }
    }
    for number in ordered {
      var call = Sample.call(number, .queued, due: Sample.time(1_000_000), orderingKey: "k\(number / 10)")
      (call.progress.waiting, call.progress.roundStartedAt) = (.ordering, Sample.time(1_000_000))
      try commit([
        .insert(call), .awaitTurn(call.id, target: call.spec.target, orderingKey: "k\(number / 10)"),
      ])
    }
  }

  /// The body of a webhook about a call.
  package static func body(about number: Int) -> [UInt8] {
    Array("{\"type\":\"call.succeeded\",\"data\":{\"id\":\"\(Sample.id(number))\"}}".utf8)
  }

  /// A waiting webhook about a call, made at a second.
  package static func webhook(_ number: Int, of call: Int, at second: Int) -> CallRecord {
    CallRecord(
      id: Sample.id(number), kind: .webhook, spec: Sample.spec(), body: body(about: call),
      createdAt: Sample.time(second), progress: Sample.call(number).progress)
  }
}

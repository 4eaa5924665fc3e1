import RedialModel
import StoreConformance
import Testing

@testable import RedialSQLite
@testable import RedialStore

@Suite("Changes that are made grouped by kind")
struct WriteBatchingTests {
  private let batching = WriteBatching(keptResponses: 3)
  private let call = Sample.call(1)

  private func update(_ number: Int?) -> StoreWrite {
    .update(call.id, call.progress, number.map { Sample.attempt($0) })
  }

  @Test("a commit is grouped unless a change removes what an earlier one stored")
  func allows() {
    let usual: [StoreWrite] = [
      .insert(call), update(nil), update(1), update(3), .target("t", TargetRecord()), .passTurn(call.id),
    ]
    #expect(batching.allows([]) && batching.allows(usual))
    for other in [update(4), .discard(call.id), .erase(call.id, call.spec)] {
      #expect(!batching.allows(usual + [other]) && !batching.allows([other] + usual), "\(other)")
    }
  }

  @Test("an attempt waits for the end of its transaction if it is small, and removes no earlier body")
  func waits() {
    var attempt = Sample.attempt(3)
    #expect(batching.canWait(attempt) && !batching.forgets(attempt))
    attempt.response = CapturedResponse(
      head: HeaderBlock(bytes: []), body: Array(repeating: 0, count: WriteBatching.mostWaiting), truncated: false)
    #expect(batching.canWait(attempt))
    attempt.response?.body.append(0)
    #expect(!batching.canWait(attempt) && !batching.forgets(attempt))
    attempt = Sample.attempt(4)
    #expect(!batching.canWait(attempt) && batching.forgets(attempt))
  }
}

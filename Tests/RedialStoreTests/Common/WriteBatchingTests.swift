import RedialModel
import StoreConformance
import Testing

@testable import RedialSQLite
@testable import RedialStore

@Suite("Attempts that are stored later")
struct WriteBatchingTests {
  private let batching = WriteBatching(keptResponses: 3)

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

import Dispatch
import RedialModel
import Synchronization
import Testing

@testable import RedialService

@Suite("Batch items that repeat earlier submissions")
struct ReplayQueueTests {
  private func item(_ index: Int) -> ReplayQueue.Item {
    let problem = Problem(.invalidDescriptor, detail: "")
    return .init(index: index, content: .refused(problem, IdempotencyKey("k", fingerprint: [])))
  }

  @Test("one reader is started, which reads all in order, a page at a time, and then another may start")
  func pages() {
    let queue = ReplayQueue()
    let asked = (0..<250).map { queue.add(item($0)) }
    #expect(asked == [true] + Array(repeating: false, count: 249))
    var read = queue.next()
    #expect(read.count == ReplayQueue.page)
    // The current reader also reads items that are added meanwhile.
    #expect(!queue.add(item(250)))
    while true {
      let page = queue.next()
      if page.isEmpty { break }
      #expect(page.count <= ReplayQueue.page)
      read += page
    }
    #expect(read.map(\.index) == Array(0...250))
    #expect(queue.add(item(0)) && queue.next().map(\.index) == [0])
  }

  @Test("a query for an accepted call runs even if too many wait, and takes no place from others")
  func owed() {
    let lanes = QueryLanes(count: 1)
    let (gate, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    lanes.runOwed { gate.wait() }
    for _ in 0..<5000 { lanes.runOwed {} }
    var accepted = 0
    while lanes.run({}) { accepted += 1 }
    #expect(accepted == 2000)
    lanes.runOwed { done.signal() }
    gate.signal()
    #expect(done.wait(timeout: .now() + 60) == .success)
  }
}

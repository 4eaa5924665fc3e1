import Dispatch
import Synchronization
import Testing

@testable import RedialService

@Suite("The lane of previews and dry runs")
struct PlanLaneTests {
  /// Fills a lane whose first plan is delayed, and returns what was refused and in which order the others ran.
  @Test("each key has a limited queue, keys are served in rotation, and all together have a limit too")
  func bounds() {
    let lane = PlanLane(maxPerKey: 3, maxWaiting: 5)
    let (gate, begun, done) = (
      DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
    )
    let order = Mutex<[String]>([])
    #expect(
      lane.run(for: .adminKey) {
        begun.signal()
        gate.wait()
      } == nil)
    begun.wait()
    func run(_ key: String, _ name: String) -> PlanLane.Refusal? {
      lane.run(for: .key(key)) {
        order.withLock { $0.append(name) }
        done.signal()
      }
    }
    for number in 1...3 { #expect(run("a", "a\(number)") == nil) }
    #expect(run("a", "a4") == .keyIsFull)
    for number in 1...2 { #expect(run("b", "b\(number)") == nil) }
    #expect(run("c", "c1") == .isFull)
    gate.signal()
    for _ in 1...5 { #expect(done.wait(timeout: .now() + 60) == .success) }
    #expect(order.withLock { $0 } == ["a1", "b1", "a2", "b2", "a3"])
    #expect(run("a", "later") == nil)
    #expect(done.wait(timeout: .now() + 60) == .success)
  }
}

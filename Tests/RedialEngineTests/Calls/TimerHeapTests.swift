@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("Timers")
struct TimerHeapTests {
  /// Takes every timer; each is known by its call's number.
  private func drain(_ heap: inout TimerHeap) -> [Int64] {
    var order: [Int64] = []
    while case .call(let id, _) = heap.next(at: .distantFuture) { order.append(id.rawValue) }
    return order
  }

  @Test("timers go off in order of time, whatever the order in which they were set", arguments: 0..<50)
  func order(seed: UInt64) {
    var random = RandomSource(seed: seed)
    let times = (0..<Int.random(in: 0...200, using: &random)).map { _ in Int64.random(in: 0...100, using: &random) }
    var heap = TimerHeap()
    for time in times {
      heap.add(.call(CallID(rawValue: time), stamp: 0), at: Timestamp(microseconds: time))
    }
    #expect(heap.earliest?.microseconds == times.min())
    #expect(drain(&heap) == times.sorted())
  }

  @Test("a timer whose time has not come stays")
  func notYet() {
    var heap = TimerHeap()
    heap.add(.target(1), at: Timestamp(microseconds: 10))
    #expect(heap.next(at: Timestamp(microseconds: 9)) == nil)
    #expect(heap.next(at: Timestamp(microseconds: 10)) != nil)
    #expect(heap.count == 0)
  }

  @Test("what is left after the void timers were dropped is still in order", arguments: 0..<50)
  func prune(seed: UInt64) {
    var random = RandomSource(seed: seed)
    let times = (0..<200).map { _ in Int64.random(in: 0...1000, using: &random) }
    var heap = TimerHeap()
    for time in times {
      heap.add(.call(CallID(rawValue: time), stamp: UInt32(time % 3)), at: Timestamp(microseconds: time))
    }
    heap.prune { if case .call(_, let stamp) = $0 { stamp == 0 } else { true } }
    #expect(drain(&heap) == times.filter { $0 % 3 == 0 }.sorted())
  }
}

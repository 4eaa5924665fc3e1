import Dispatch
import RedialCore
import RedialEngine
@testable import RedialModel
import Synchronization
import Testing

@testable import RedialService

@Suite("The engine's lane")
struct EngineLaneTests {
  // Found by stopping a service with thousands of calls: its timer fired while they were being freed.
  @Test("a timer that fires while the engine is being freed finds nothing, and does no harm")
  func freedUnderItsTimer() {
    let spec = CallSpec(
      url: "http://127.0.0.1:9", method: "GET", headers: [], target: "t", policy: .service, captureLimit: 100)
    for round in 1...10 {
      let stepped = DispatchSemaphore(value: 0)
      var lane: EngineLane? = EngineLane(engine: Engine(seed: 1), clock: Clock())
      lane?.begin(with: RecoveredState()) { _ in stepped.signal() }
      // They become due one after the other, so that the timer is always about to fire.
      lane?.post(
        (1...2000).map { number in
          let descriptor = CallDescriptor(spec: spec, body: [], start: .after(.microseconds(20_000 + 50 * number)))
          return .submit(descriptor, ReplyToken(rawValue: UInt64(number)))
        })
      for _ in 0..<3 { #expect(stepped.wait(timeout: .now() + 60) == .success) }
      let wait = Duration.milliseconds(20 + 2 * round)
      _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .microseconds(Int(wait.wholeMicroseconds)))
      lane = nil
    }
  }

  @Test("the events that a loop defers in one iteration are one batch, taken when it wakes the engine")
  func deferredEvents() {
    let batches = Mutex<[Int]>([])
    let stepped = DispatchSemaphore(value: 0)
    let lane = EngineLane(engine: Engine(seed: 1), clock: Clock())
    lane.begin(with: RecoveredState()) { effects in
      let writes = effects.store.reduce(0) { count, request in
        if case .commit(let writes, _) = request.body { count + writes.count } else { count }
      }
      batches.withLock { $0.append(writes) }
      stepped.signal()
    }
    // The recovery itself, and the step that follows it: nothing else wakes the lane from here on.
    for _ in 0..<2 { #expect(stepped.wait(timeout: .now() + 60) == .success) }
    let spec = CallSpec(
      url: "http://127.0.0.1:9", method: "GET", headers: [], target: "t", policy: .service, captureLimit: 100)
    for number in 1...50 {
      let descriptor = CallDescriptor(spec: spec, body: [], start: .after(.seconds(3600)))
      lane.deferEvent(.submit(descriptor, ReplyToken(rawValue: UInt64(number))))
    }
    lane.wake()
    #expect(stepped.wait(timeout: .now() + 60) == .success)
    #expect(batches.withLock { $0 } == [0, 0, 50])
  }

  @Test("steps on the threads that bring events run one after the other, and no event is lost")
  func stepsInPlace() {
    let spec = CallSpec(
      url: "http://127.0.0.1:9", method: "GET", headers: [], target: "t", policy: .service, captureLimit: 100)
    @Sendable func submission(_ number: Int) -> EngineEvent {
      let descriptor = CallDescriptor(spec: spec, body: [], start: .after(.seconds(3600)))
      return .submit(descriptor, ReplyToken(rawValue: UInt64(number)))
    }
    let (threads, each) = (8, 500)
    let written = Mutex(0)
    let inside = Mutex(false)
    let done = DispatchSemaphore(value: 0)
    let lane = EngineLane(engine: Engine(seed: 1), clock: Clock())
    let start = { (thread: Int) in
      DispatchQueue.global().async {
        for number in 0..<each {
          let event = submission(thread * each + number)
          switch (thread + number) % 3 {
          case 0: lane.post(event)
          case 1: lane.postInPlace([event])
          default:
            lane.deferEvent(event)
            lane.wake()
          }
        }
      }
    }
    // Some come before it has begun.
    for thread in 0..<4 { start(thread) }
    lane.begin(with: RecoveredState()) { effects in
      #expect(
        inside.withLock { inside in
          defer { inside = true }
          return !inside
        })
      let writes = effects.store.reduce(0) { count, request in
        if case .commit(let writes, _) = request.body { count + writes.count } else { count }
      }
      inside.withLock { $0 = false }
      let all = written.withLock { written in
        written += writes
        return written
      }
      if all == threads * each { done.signal() }
    }
    for thread in 4..<threads { start(thread) }
    #expect(done.wait(timeout: .now() + 60) == .success)
  }
}

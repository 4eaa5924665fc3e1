import Dispatch
import RedialCore
import Synchronization
import Testing

@testable import RedialTransport

@Suite("Whether the name or the resolver is at fault", .onThreads)
struct HelperProbeTests {
  /// The answers of probes, and a way to wait for them.
  private final class Answers: Sendable {
    let answers = Mutex<[Bool]>([])
    let signal = DispatchSemaphore(value: 0)

    func ask(_ probe: HelperProbe) {
      probe.ask { isUp in
        self.answers.withLock { $0.append(isUp) }
        self.signal.signal()
      }
    }

    func wait(count: Int) -> [Bool] {
      for _ in 0..<count where signal.wait(timeout: .now() + .seconds(60)) == .timedOut { break }
      return answers.withLock { $0 }
    }
  }

  @Test("simultaneous questions share one answer, also with those shortly after")
  func once() {
    let asked = Mutex(0)
    let gate = DispatchSemaphore(value: 0)
    let probe = HelperProbe(memory: forever, patience: forever) {
      asked.withLock { $0 += 1 }
      gate.wait()
      return true
    }
    let told = Answers()
    for _ in 0..<5 { told.ask(probe) }
    gate.signal()
    #expect(told.wait(count: 5) == [true, true, true, true, true])
    told.ask(probe)
    #expect(told.wait(count: 1).count == 6)
    #expect(asked.withLock { $0 } == 1)
  }

  @Test("a resolver that does not answer in time is down, and gets no second question meanwhile")
  func silent() {
    let asked = Mutex(0)
    let gate = DispatchSemaphore(value: 0)
    let probe = HelperProbe(memory: forever, patience: .milliseconds(20)) {
      asked.withLock { $0 += 1 }
      gate.wait()
      return true
    }
    let told = Answers()
    told.ask(probe)
    #expect(told.wait(count: 1) == [false])
    told.ask(probe)
    #expect(told.wait(count: 1) == [false, false])
    #expect(asked.withLock { $0 } == 1)
    gate.signal()
  }
}

import Polling
import Foundation
import Redial
import RedialLegacy
import Testing

@Suite("RetryOperationWrapper")
struct RetryOperationWrapperTests {
  @Test(
    "the wrapper runs the original, then a new operation for each retry, up to its maximum", arguments: [0, 1, 2, 5])
  func maximum(retries: Int) {
    let ran = Record<Numbered>()
    let original = Numbered(0, ran: ran)
    let wrapper = RetryOperationWrapper(
      original, maximumNumberOfRetries: retries, needsRetry: { _ in .delay(.zero) },
      operationForRetrying: { Numbered($0.number + 1, ran: ran) })
    #expect(wrapper.originalOperation === original && wrapper.currentOperation === original)
    OperationQueue().addOperation(wrapper)
    #expect(wrapper.finishes())
    #expect(ran.elements.map(\.number) == Array(0...retries))
    #expect(Set(ran.elements.map(ObjectIdentifier.init)).count == retries + 1)
    #expect(wrapper.originalOperation === original && wrapper.currentOperation === ran.elements.last)
    #expect(ran.elements.allSatisfy { $0.isFinished })
  }

  @Test("a negative maximum sets no limit; the finished operation decides when to stop")
  func unlimited() {
    let ran = Record<Numbered>()
    let wrapper = RetryOperationWrapper(
      Numbered(0, ran: ran), maximumNumberOfRetries: -1, timers: ImmediateTimers(),
      needsRetry: { $0.number < 300 ? .delay(.seconds(1)) : nil },
      operationForRetrying: { Numbered($0.number + 1, ran: ran) })
    wrapper.start()
    #expect(wrapper.finishes())
    #expect(ran.elements.map(\.number) == Array(0...300))
  }

  @Test(
    "an operation that decides about retries itself needs no closures, and helpers work like delays")
  func retryable() {
    let ran = Record<Numbered>()
    let helper = HelperProbe(firesInSetUp: true)
    let wrapper = RetryOperationWrapper(Numbered(0, ran: ran, last: 2, helper: helper))
    wrapper.start()
    #expect(wrapper.finishes())
    #expect(ran.elements.map(\.number) == [0, 1, 2])
    #expect(helper.events.elements == ["up", "down", "up", "down"])
  }

  @Test("wrapped operations run on the given queue and wait for their dependencies")
  func queue() {
    let names = Record<String>()
    let queue = OperationQueue()
    queue.name = "mine"
    let gate = BlockOperation { names.append("gate") }
    let original = BlockOperation { names.append(OperationQueue.current?.name ?? "") }
    original.addDependency(gate)
    let wrapper = RetryOperationWrapper(
      original, maximumNumberOfRetries: 1, queue: queue, needsRetry: { _ in .delay(.zero) },
      operationForRetrying: { _ in BlockOperation { names.append(OperationQueue.current?.name ?? "") } })
    queue.isSuspended = true
    wrapper.start()
    #expect(wrapper.isExecuting && names.count == 0)
    queue.isSuspended = false
    queue.addOperation(gate)
    #expect(wrapper.finishes())
    #expect(names.elements == ["gate", "mine", "mine"])
  }

  @Test("the wrapper does not change the completion block of the wrapped operation")
  func completionBlock() {
    let completed = Record<Void>()
    let original = Held()
    let wrapper = RetryOperationWrapper(
      original, needsRetry: { _ in nil }, operationForRetrying: { _ in Held() })
    OperationQueue().addOperation(wrapper)
    #expect(original.started.wait(for: 1))
    original.completionBlock = { completed.append(()) }
    original.finish()
    #expect(wrapper.finishes())
    #expect(completed.wait(for: 1))
  }

  @Test("a wrapper cancelled after the first run does not run again")
  func cancelledAfterFirstRun() {
    let ran = Record<Numbered>()
    let timers = ManualTimers()
    let helper = HelperProbe()
    let wrapper = RetryOperationWrapper(
      Numbered(0, ran: ran), timers: timers, needsRetry: { _ in .helpers([helper]) },
      operationForRetrying: { Numbered($0.number + 1, ran: ran) })
    wrapper.start()
    #expect(helper.signals.wait(for: 1))
    wrapper.cancel()
    #expect(wrapper.finishes() && wrapper.isCancelled)
    #expect(!wrapper.retryNow() && helper.signals.elements.first?.retry() == false)
    #expect(ran.count == 1 && helper.events.elements == ["up", "down"])
  }

  @Test("a wrapper cancelled during a run cancels that operation, asks for no retry, and finishes with it")
  func cancelledDuringRun() {
    let asked = Record<Void>()
    let original = Held()
    let wrapper = RetryOperationWrapper(
      original,
      needsRetry: { _ in
        asked.append(())
        return .delay(.zero)
      },
      operationForRetrying: { _ in Held() })
    OperationQueue().addOperation(wrapper)
    #expect(original.started.wait(for: 1))
    wrapper.cancel()
    #expect(original.isCancelled && !wrapper.isFinished)
    original.finish()
    #expect(wrapper.finishes())
    #expect(asked.count == 0 && wrapper.currentOperation === original)
  }

  @Test("a wrapper cancelled before its start runs nothing")
  func cancelledBeforeStart() {
    let ran = Record<Numbered>()
    let wrapper = RetryOperationWrapper(Numbered(0, ran: ran, last: 9, helper: HelperProbe()))
    wrapper.cancel()
    OperationQueue().addOperation(wrapper)
    #expect(wrapper.finishes() && ran.count == 0)
  }

  @Test("if no new operation can be made, the wrapper finishes and says why")
  func noFreshOperation() {
    struct Refused: Error {}
    let log = Record<String>()
    let ran = Record<Numbered>()
    let wrapper = RetryOperationWrapper(
      Numbered(0, ran: ran), logger: { log.append($0) }, needsRetry: { _ in .delay(.zero) },
      operationForRetrying: { _ in throw Refused() })
    wrapper.start()
    #expect(wrapper.finishes() && ran.count == 1)
    #expect(log.elements.contains { $0.contains("Refused") })
  }

  @Test("1,000 wrapped operations, run and retried at once, use at most 16 threads")
  func threads() async {
    // In a process of its own, where no other test's threads are counted.
    await #expect(processExitsWith: .success) {
      let count = 1000
      let started = Record<Held>()
      let waits = Record<Void>()
      let counts = Record<Int>()
      let queue = OperationQueue()
      let wrappers = (0..<count).map { _ in
        RetryOperationWrapper(
          Held(started), maximumNumberOfRetries: 1,
          needsRetry: { _ in
            waits.append(())
            return .helpers([])
          },
          operationForRetrying: { _ in Held(started) })
      }
      for wrapper in wrappers { queue.addOperation(wrapper) }
      #expect(started.wait(for: count))
      counts.append(threadCount())
      for operation in started.elements { operation.finish() }
      #expect(waits.wait(for: count))
      counts.append(threadCount())
      for wrapper in wrappers { poll { wrapper.retryNow() } }
      #expect(started.wait(for: 2 * count))
      counts.append(threadCount())
      for operation in started.elements.suffix(count) { operation.finish() }
      for wrapper in wrappers { #expect(wrapper.finishes()) }
      counts.append(threadCount())
      #expect(counts.elements.allSatisfy { $0 > 0 && $0 <= 16 }, "threads: \(counts.elements)")
    }
  }
}

/// The threads of this process now, or 0 when the kernel does not tell.
private func threadCount() -> Int {
  (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0
}

/// A synchronous operation of someone else's, which records that it ran.
private final class Numbered: Operation, RetryableOperation, @unchecked Sendable {
  let number: Int
  private let ran: Record<Numbered>
  private let last: Int
  private let helper: HelperProbe

  init(_ number: Int, ran: Record<Numbered>, last: Int = 0, helper: HelperProbe = HelperProbe()) {
    self.number = number
    self.ran = ran
    self.last = last
    self.helper = helper
  }

  override func main() { ran.append(self) }

  func retryWait() -> RetryWait? { number < last ? .helpers([helper]) : nil }

  func operationForRetrying() -> Numbered { Numbered(number + 1, ran: ran, last: last, helper: helper) }
}

/// An asynchronous operation of someone else's, which goes on until told to finish.
private final class Held: Operation, @unchecked Sendable {
  let started: Record<Held>
  private let lock = NSLock()
  private var stage = 0

  init(_ started: Record<Held> = Record()) { self.started = started }

  override var isAsynchronous: Bool { true }
  override var isExecuting: Bool { lock.withLock { stage == 1 } }
  override var isFinished: Bool { lock.withLock { stage == 2 } }

  override func start() {
    move(to: 1, "isExecuting")
    started.append(self)
  }

  func finish() {
    move(to: 2, "isFinished")
  }

  private func move(to next: Int, _ key: String) {
    willChangeValue(forKey: key)
    lock.withLock { stage = next }
    didChangeValue(forKey: key)
  }
}

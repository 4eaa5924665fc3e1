import Dispatch
import RedialLanes
import Testing

@Suite("Owners")
struct OwnerTests {
  @Test("who owns an object may use it: a queue by its work, and a thread by itself")
  func owners() {
    let queue = DispatchQueue(label: "owner")
    queue.sync { Owner.queue(queue).check() }
    let done = DispatchSemaphore(value: 0)
    queue.async {
      Owner.queue(queue).check()
      let owner = Owner.thisThread
      owner.check()
      done.signal()
    }
    #expect(done.wait(timeout: .now() + 60) == .success)
    Owner.holder.check()
  }

  @Test("work outside of the queue ends the process")
  func otherQueue() async {
    await #expect(processExitsWith: .failure) {
      let (queue, other) = (DispatchQueue(label: "owner"), DispatchQueue(label: "other"))
      other.sync { Owner.queue(queue).check() }
    }
  }

  @Test("another thread ends the process")
  func otherThread() async {
    await #expect(processExitsWith: .failure) {
      let owner = Owner.thisThread
      let done = DispatchSemaphore(value: 0)
      DispatchQueue(label: "other").async {
        owner.check()
        done.signal()
      }
      _ = done.wait(timeout: .now() + 60)
    }
  }

  @Test("threads take turns, and two in a turn at a time end the process")
  func turns() async {
    final class Shared: Sendable { let turn = Turn() }
    let (shared, queue) = (Shared(), DispatchQueue(label: "other"))
    shared.turn.begin()
    shared.turn.end()
    queue.sync {
      shared.turn.begin()
      shared.turn.end()
    }
    await #expect(processExitsWith: .failure) {
      let turn = Turn()
      turn.begin()
      turn.begin()
    }
    await #expect(processExitsWith: .failure) {
      final class Shared: Sendable { let turn = Turn() }
      let (shared, done) = (Shared(), DispatchSemaphore(value: 0))
      shared.turn.begin()
      DispatchQueue(label: "other").async {
        shared.turn.end()
        done.signal()
      }
      _ = done.wait(timeout: .now() + 60)
    }
  }
}

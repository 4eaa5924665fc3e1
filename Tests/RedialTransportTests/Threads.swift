import Dispatch
import Testing

/// Runs the tests of a suite on threads of their own, sixteen at a time: they block, and for tests that do not there are only
/// as many threads as the machine has cores.
struct OnThreads: SuiteTrait, TestTrait, TestScoping {
  let isRecursive = true

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(Threads.shared) { try await function() }
  }
}

extension Trait where Self == OnThreads {
  static var onThreads: OnThreads { OnThreads() }
}

/// Threads that may block.
private final class Threads: TaskExecutor {
  static let shared = Threads()
  private let queue = DispatchQueue(label: "test.threads", attributes: .concurrent)
  private let places = DispatchSemaphore(value: 16)
  private let order = DispatchQueue(label: "test.threads.order")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    order.async { [self] in
      places.wait()
      queue.async { [self] in
        job.runSynchronously(on: asUnownedTaskExecutor())
        places.signal()
      }
    }
  }
}

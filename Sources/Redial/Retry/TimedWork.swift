/// One attempt with its timeout.
enum TimedWork {
  /// Makes an attempt, cancels it when its time is up, and returns when it has ended.
  ///
  /// The work does not escape: it runs in a task, on the actor of the caller, which waits for it. Without a limit it runs in
  /// the caller's own.
  ///
  /// - Parameter activity: If given, the time counts from its last sign.
  static func perform<Value: Sendable>(
    _ attempt: RetryAttempt, _ clock: any RetryClock, isolation: isolated (any Actor)?, activity: Activity? = nil,
    _ work: nonisolated(nonsending) (RetryAttempt) async throws -> Value
  ) async -> Result<Value, any Error> {
    await withoutActuallyEscaping(work) { escaping in
      let ferry = Ferry(escaping)
      let limit = attempt.timeout
      guard limit < SystemRetryClock.longest else { return await call(ferry, attempt, isolation: isolation) }
      if clock is SystemRetryClock { return await timed(ferry, attempt, activity, isolation: isolation) }
      return await withTaskGroup(of: Result<Value, any Error>.self) { group in
        group.addTask { await call(ferry, attempt, isolation: isolation) }
        group.addTask {
          do {
            var left = limit
            repeat {
              try await clock.timeout(after: left)
              left = activity?.timeLeft(of: limit) ?? .zero
            } while left > .zero
            return .failure(AttemptTimeout(limit: limit))
          } catch {
            return .failure(error)
          }
        }
        defer { group.cancelAll() }
        return await group.next() ?? .failure(CancellationError())
      }
    }
  }

  /// On the machine's clock, whose timeouts are one timer's.
  private static func timed<Value: Sendable>(
    _ work: Ferry<nonisolated(nonsending) (RetryAttempt) async throws -> Value>, _ attempt: RetryAttempt,
    _ activity: Activity?, isolation: isolated (any Actor)?
  ) async -> Result<Value, any Error> {
    let limit = attempt.timeout
    let task = Task { await call(work, attempt, isolation: isolation) }
    let timeout = SharedTimer.shared.add(after: limit, unless: { activity?.timeLeft(of: limit) ?? .zero }) {
      task.cancel()
    }
    let result = await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
    return SharedTimer.shared.remove(timeout) ? result : .failure(AttemptTimeout(limit: limit))
  }

  private static func call<Value: Sendable>(
    _ work: Ferry<nonisolated(nonsending) (RetryAttempt) async throws -> Value>, _ attempt: RetryAttempt,
    isolation: isolated (any Actor)?
  ) async -> Result<Value, any Error> {
    do {
      return .success(try await work.value(attempt))
    } catch {
      return .failure(error)
    }
  }
}

/// Passes a value between a task and the child for which it waits.
///
/// Sound to send: parent and child run on the same actor, or on none, and the parent waits until the child has ended.
/// So both never use the value at once, nor does anything else: it is the work, which was lent to the parent, or the
/// result of the work, which the child does not keep.
struct Ferry<Value>: @unchecked Sendable {
  nonisolated(unsafe) let value: Value

  init(_ value: Value) { self.value = value }
}

internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore

/// Submits the new calls of a bulk operation that replays ended ones.
///
/// Each has an idempotency key that names the operation and the original. So one that is submitted again makes no other call:
/// after a crash between the call and the operation's progress, or by the next leader.
struct BulkReplays: Sendable {
  let engine: EngineLane
  let intake: Intake
  let calls: CallAnswers
  let limits: CallDescriptor.Limits

  /// The bodies of a page that are in memory at a time, in bytes; one more may be.
  private static let mostBytes = 4 << 20

  /// Replays some calls.
  ///
  /// - Parameter finish: Called once, from any thread, when all of them have a result.
  func perform(
    _ operation: BulkOperation, on ids: ArraySlice<CallID>, finish: @escaping @Sendable (BulkBatch.Tally) -> Void
  ) {
    calls.queries.runOwed { [self] in
      var (rest, tally, bytes) = (ids, BulkBatch.Tally(), 0)
      var new: [(original: CallID, descriptor: CallDescriptor)] = []
      while bytes < Self.mostBytes, let id = rest.popFirst() {
        switch descriptor(of: id, operation) {
        case .submit(let descriptor):
          new.append((id, descriptor))
          bytes += descriptor.body.count
        case .skip: tally.skipped += 1
        case .wait: tally.unavailable += 1
        }
      }
      let goOn = { @Sendable [rest, tally] (submitted: BulkBatch.Tally) in
        var tally = tally
        tally.add(submitted)
        guard !rest.isEmpty else { return finish(tally) }
        perform(operation, on: rest) { [tally] others in
          var tally = tally
          tally.add(others)
          finish(tally)
        }
      }
      guard !new.isEmpty else { return goOn(BulkBatch.Tally()) }
      let batch = BulkBatch(size: new.count, finish: goOn)
      engine.post(new.map { intake.event($0.descriptor, of: .replay(batch, original: $0.original)) })
    }
  }

  private enum Step {
    case submit(CallDescriptor)
    /// The call is left as it is: it has changed, cannot be read, or cannot be replayed.
    case skip
    /// The store cannot be read now.
    case wait
  }

  /// What is to be done with a call.
  private func descriptor(of id: CallID, _ operation: BulkOperation) -> Step {
    var limits = limits
    limits.namespace = operation.namespace
    limits.latestStart = calls.clock.now + limits.delay
    do {
      guard
        let original = try calls.queries.reader.call(id, in: operation.namespace, allResponses: false)?.record,
        operation.request.skipReason(of: original, foundAt: operation.createdAt) == nil
      else { return .skip }
      let body = try calls.body(of: original, atMost: .max)
      var descriptor = try CallReplay.unchanged.descriptor(
        of: original, body: body, limits: limits, calls.redaction)
      descriptor.key = Self.key(of: id, operation)
      return .submit(descriptor)
    } catch {
      return calls.queries.problem(of: error).status >= 500 ? .wait : .skip
    }
  }

  private static func key(of id: CallID, _ operation: BulkOperation) -> IdempotencyKey {
    let text = "\(operation.id)-\(id)"
    return IdempotencyKey(
      IdempotencyName(text, in: operation.namespace),
      fingerprint: Array(text.utf8).withUnsafeBytes { SHA256Digest.of($0) })
  }
}

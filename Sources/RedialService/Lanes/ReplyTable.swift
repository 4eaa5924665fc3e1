internal import HTTPServer
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import Synchronization

/// The clients that wait for the engine's reply.
final class ReplyTable: Sendable {
  /// A client that waits.
  struct Waiting: Sendable {
    var responder: HTTPResponder
    var purpose: Purpose
    var since: Timestamp
  }

  /// The reply for which it waits.
  enum Purpose: Sendable {
    /// The acceptance of its call.
    case submit
    /// The end of its call, if it comes in time, else its acceptance.
    case submitAndWait(Duration)
    /// The acceptance of one call among several.
    case batch(any BatchAnswering, index: Int)
    /// A command for a call.
    case operation
    /// A command for a target.
    case control
    /// A page of a namespace's targets.
    case targets(Namespace)
    /// One target.
    case target(TargetKey)
    /// The metrics.
    case metrics
    /// Whether the service is ready; bare means that the answer has no body.
    case readiness(isBare: Bool)

    /// Whether the answer contains targets.
    var isAboutTargets: Bool {
      switch self {
      case .targets, .target: true
      default: false
      }
    }

    /// Whether a call was submitted.
    var isSubmission: Bool {
      switch self {
      case .submit, .submitAndWait, .batch: true
      case .operation, .control, .targets, .target, .metrics, .readiness: false
      }
    }
  }

  private struct Table: Sendable {
    var waiting: [UInt64: Waiting] = [:]
    var batches: [UInt64: BulkBatch] = [:]
    var handlers: [UInt64: @Sendable (Reply) -> Void] = [:]
    var last: UInt64 = 0
  }

  private let table = Mutex(Table())

  /// Adds a client, and returns its token for the engine.
  func add(_ responder: HTTPResponder, for purpose: Purpose, at now: Timestamp) -> ReplyToken {
    table.withLock { table in
      table.last += 1
      table.waiting[table.last] = Waiting(responder: responder, purpose: purpose, since: now)
      return ReplyToken(rawValue: table.last)
    }
  }

  /// Adds one more reply for a batch, and returns its token for the engine.
  func add(_ batch: BulkBatch) -> ReplyToken {
    table.withLock { table in
      table.last += 1
      table.batches[table.last] = batch
      return ReplyToken(rawValue: table.last)
    }
  }

  /// Adds a handler of the service itself, which is called with the reply on the engine's lane.
  func add(_ handler: @escaping @Sendable (Reply) -> Void) -> ReplyToken {
    table.withLock { table in
      table.last += 1
      table.handlers[table.last] = handler
      return ReplyToken(rawValue: table.last)
    }
  }

  /// Removes a handler; nil if the token belongs to none.
  func takeHandler(_ token: ReplyToken) -> (@Sendable (Reply) -> Void)? {
    table.withLock { $0.handlers.removeValue(forKey: token.rawValue) }
  }

  /// Removes a batch's token; nil if there is none.
  func takeBatch(_ token: ReplyToken) -> BulkBatch? {
    table.withLock { $0.batches.removeValue(forKey: token.rawValue) }
  }

  /// Removes a client; nil if there is none.
  func take(_ token: ReplyToken) -> Waiting? {
    table.withLock { $0.waiting.removeValue(forKey: token.rawValue) }
  }
}

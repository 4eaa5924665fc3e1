internal import HTTPServer
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import Synchronization

/// Those who wait for one type of reply of the engine, by token.
final class ReplyTable<Waiter: Sendable, Answer: Sendable>: Sendable {
  private struct Table: Sendable {
    var waiting: [UInt64: (waiter: Waiter, since: ContinuousClock.Instant)] = [:]
    var last: UInt64 = 0
  }

  private let table = Mutex(Table())

  /// Adds one, and returns its token for the engine.
  func add(_ waiter: Waiter) -> ReplyToken<Answer> {
    table.withLock { table in
      table.last += 1
      table.waiting[table.last] = (waiter, .now)
      return ReplyToken(rawValue: table.last)
    }
  }

  /// Changes one, if it still waits.
  func change(_ token: ReplyToken<Answer>, _ change: (inout Waiter) -> Void) {
    table.withLock { table in
      guard var entry = table.waiting[token.rawValue] else { return }
      change(&entry.waiter)
      table.waiting[token.rawValue] = entry
    }
  }

  /// Removes one; nil if there is none.
  func take(_ token: ReplyToken<Answer>) -> Waiter? {
    table.withLock { $0.waiting.removeValue(forKey: token.rawValue)?.waiter }
  }

  /// Removes those that wait for so long or longer.
  func takeAll(waitingFor time: Duration) -> [Waiter] {
    table.withLock { table in
      let end = ContinuousClock.now - time
      let late = table.waiting.filter { $0.value.since <= end }
      for token in late.keys { table.waiting[token] = nil }
      return late.values.map(\.waiter)
    }
  }
}

/// Those who wait for replies of the engine: one table for each type of reply.
struct ReplyTables: Sendable {
  let submissions = ReplyTable<Submitter, SubmissionReply>()
  let commands = ReplyTable<Commander, CallCommand.Reply>()
  let targetCommands = ReplyTable<TargetCommander, TargetCommand.Reply>()
}

/// Whoever has submitted a call.
struct Submitter: Sendable {
  enum Kind: Sendable {
    /// A client that waits for the acceptance of its call.
    case client(HTTPResponder)
    /// A client that waits for the end of its call for a limited time, and then takes its acceptance.
    case untilEnd(HTTPResponder, EndWait)
    /// One item of a batch.
    case item(any BatchAnswering, index: Int)
    /// A client that wanted a test of its webhook endpoint.
    case webhookTest(HTTPResponder)
    /// A bulk operation that makes a new call like this one.
    case replay(BulkBatch, original: CallID)
    /// One submission that another instance has forwarded for its client.
    case forwarded(ForwardedAnswer, index: Int)
  }

  /// What to do if its key has a call that is removed before it can be shown; the key is then removed, too.
  ///
  /// Indirect, because most submissions have no key, and the table of those who wait would be many times as large.
  indirect enum Otherwise: Sendable {
    /// There is no key.
    case nothing
    /// Submit the call again, so many times at most.
    case submit(CallDescriptor, tries: Int)
    /// Give the reason why it cannot be accepted as a new call.
    case refuse(Problem)
  }

  let kind: Kind
  let since: Timestamp
  var otherwise = Otherwise.nothing
  /// Whether the call was forwarded to another instance, which may have stored it, so that a failure here does not mean
  /// that it is not accepted.
  var isInDoubt = false

  /// Whether the call came from a client.
  var isClients: Bool {
    switch kind {
    case .client, .untilEnd, .item: true
    case .webhookTest, .replay, .forwarded: false
    }
  }

  /// Whether it may run its call again. One that would be refused as a new call changes nothing; and one that the call itself has
  /// caused, by its webhook, does not go on in a circle.
  func mayRerun(_ call: CallRecord) -> Bool {
    if case .submit(let descriptor, _) = otherwise { descriptor.spec.hops <= call.spec.hops } else { false }
  }

  /// Who submits the call again at a later time: a client waits only for what is left.
  func kind(at now: Timestamp) -> Kind {
    guard case .untilEnd(let responder, let wait) = kind else { return kind }
    return .untilEnd(responder, wait.left(at: now, since: since))
  }
}

/// Whoever has given a command about a call.
enum Commander: Sendable {
  /// A client, its request if another instance may have to serve it, and what the audit log says of it.
  case client(HTTPResponder, ForwardableRequest?, AuditNote?)
  /// A bulk operation, for one of the calls of a batch.
  case bulk(BulkBatch, CallID)
  /// A submission under the idempotency key of a call, which runs it again.
  case rerun(Rerun)
  /// The service itself, for a call that only the store has in memory.
  case audit(HeldCall)
}

/// A submission that runs again the call which was accepted under its key, and has ended.
struct Rerun: Sendable {
  /// The call as it was found.
  let call: CallRecord
  let submitter: Submitter
}

/// A client that has given a command about a target.
struct TargetCommander: Sendable {
  let responder: HTTPResponder
  /// Its request, if another instance may have to serve it.
  let request: ForwardableRequest?
  /// What the audit log says of it.
  let note: AuditNote?
}

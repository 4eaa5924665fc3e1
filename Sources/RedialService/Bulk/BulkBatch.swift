internal import RedialEngine
internal import RedialJSON
internal import RedialModel
internal import Synchronization

/// Collects the engine's replies to the commands of one batch. Those about calls that other instances run are passed
/// on to them, together, when all others have a reply.
final class BulkBatch: Sendable {
  /// A call that another instance runs.
  typealias Elsewhere = (call: CallID, target: TargetKey)

  /// The result of a batch.
  struct Tally: Sendable, Equatable {
    /// Calls that were changed, on disk.
    var done = 0
    /// Calls whose state does not allow the action.
    var skipped = 0
    /// Calls without a result: the service cannot do anything now.
    var unavailable = 0
    /// Calls that another instance runs, and only that instance can change.
    var elsewhere = 0
    /// The originals of new calls, among those that are done.
    var replayed: Set<CallID> = []

    var count: Int { done + skipped + unavailable + elsewhere }

    mutating func add(_ other: Tally) {
      done += other.done
      skipped += other.skipped
      unavailable += other.unavailable
      elsewhere += other.elsewhere
      replayed.formUnion(other.replayed)
    }
  }

  private struct State: Sendable {
    var tally = Tally()
    var elsewhere: [Elsewhere] = []
  }

  private let state = Mutex(State())
  private let size: Int
  private let passOn: (@Sendable ([Elsewhere], BulkBatch) -> Void)?
  private let finish: @Sendable (Tally) -> Void

  /// - Parameters:
  ///   - passOn: Passes calls on to the instances that run them, with an ``add(_:)`` for each of them; nil if nobody
  ///     is asked.
  ///   - finish: Called once, from any thread, when there are as many results as commands.
  init(
    size: Int, passOn: (@Sendable ([Elsewhere], BulkBatch) -> Void)? = nil, finish: @escaping @Sendable (Tally) -> Void
  ) {
    (self.size, self.passOn, self.finish) = (size, passOn, finish)
  }

  /// Records the reply to the command about a call.
  func record(_ reply: CallCommand.Reply, of call: CallID) {
    change { state in
      switch reply {
      case .done, .unchanged: state.tally.done += 1
      case .refused(let refusal) where refusal.problem.status >= 500: state.tally.unavailable += 1
      case .refused: state.tally.skipped += 1
      case .elsewhere(let target) where passOn != nil: state.elsewhere.append((call, target))
      case .elsewhere: state.tally.elsewhere += 1
      }
    }
  }

  /// Records the reply to the submission of a new call. One that was accepted before, under its key, counts: the page that
  /// it belongs to is worked on again.
  func record(_ reply: SubmissionReply, replaying original: CallID) {
    change { state in
      switch reply {
      case .accepted, .replayed:
        state.tally.done += 1
        state.tally.replayed.insert(original)
      case .refused(let refusal) where refusal.problem.status >= 500: state.tally.unavailable += 1
      case .refused: state.tally.skipped += 1
      }
    }
  }

  /// Adds the results of some of the commands.
  func add(_ tally: Tally) {
    change { $0.tally.add(tally) }
  }

  private func change(_ change: (inout State) -> Void) {
    let (elsewhere, all) = state.withLock { state -> ([Elsewhere], Tally?) in
      change(&state)
      guard state.tally.count + state.elsewhere.count == size else { return ([], nil) }
      defer { state.elsewhere = [] }
      return (state.elsewhere, state.elsewhere.isEmpty ? state.tally : nil)
    }
    if let all { return finish(all) }
    if !elsewhere.isEmpty { passOn?(elsewhere, self) }
  }
}

extension BulkBatch.Tally {
  /// As one instance sends it to another.
  var json: [UInt8] {
    var writer = JSONWriter(capacity: 64)
    writer.beginObject()
    writer.field("done", done)
    writer.field("skipped", skipped)
    writer.field("unavailable", unavailable)
    writer.field("elsewhere", elsewhere)
    writer.endObject()
    return writer.bytes
  }

  /// Reads what another instance has sent about so many calls; nil if it cannot be read.
  init?(json: [UInt8], of calls: Int) {
    let read = json.withUnsafeBufferPointer { bytes in
      Result { () throws(JSONError) in
        var tally = Self()
        var reader = JSONReader(bytes)
        func count() throws(JSONError) -> Int { min(max(-1, Int(try reader.integer())), calls + 1) }
        try reader.beginObject()
        while let name = try reader.nextKey() {
          switch name {
          case "done": tally.done = try count()
          case "skipped": tally.skipped = try count()
          case "unavailable": tally.unavailable = try count()
          case "elsewhere": tally.elsewhere = try count()
          default: _ = try reader.skipValue()
          }
        }
        try reader.finish()
        return tally
      }
    }
    guard case .success(let tally) = read, tally.count == calls,
      [tally.done, tally.skipped, tally.unavailable, tally.elsewhere].allSatisfy({ $0 >= 0 })
    else { return nil }
    self = tally
  }
}

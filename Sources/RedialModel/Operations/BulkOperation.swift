public import RedialCore
public import RedialJSON

/// One action on all calls that match a filter, a few at a time.
public struct BulkOperation: Sendable, Hashable {
  /// The action. The numbers are the store's.
  public enum Action: UInt8, Sendable, Hashable, CaseIterable {
    /// Retry calls that have ended.
    case retry = 0
    /// Cancel calls that have not ended.
    case cancel = 1
    /// Run waiting calls now.
    case release = 2
    /// Remove calls that have ended.
    case purge = 3
    /// Submit new calls like calls that have ended.
    case replay = 4

    /// The word in the API.
    public var name: String {
      switch self {
      case .retry: "retry"
      case .cancel: "cancel"
      case .release: "release"
      case .purge: "purge"
      case .replay: "replay"
      }
    }

    /// The states to which it applies; the first is the default. Nil if a state must be given.
    var states: (allowed: [CallState], unsaid: CallState?) {
      switch self {
      case .retry, .replay: ([.succeeded, .failed, .cancelled], .failed)
      case .cancel: ([.scheduled, .running], .scheduled)
      case .release: ([.scheduled], .scheduled)
      case .purge: ([.succeeded, .failed, .cancelled], nil)
      }
    }
  }

  /// Its progress. The numbers are the store's.
  public enum State: UInt8, Sendable, Hashable, CaseIterable {
    /// It counts the matching calls. Leads to `running`, `cancelled`.
    case counting = 0
    /// It runs. Leads to `completed`, `cancelled`.
    case running = 1
    /// An end.
    case completed = 2
    /// An end.
    case cancelled = 3

    /// Whether it has ended.
    public var isFinal: Bool { rawValue >= State.completed.rawValue }

    /// The word in the API.
    public var name: String {
      switch self {
      case .counting: "counting"
      case .running: "running"
      case .completed: "completed"
      case .cancelled: "cancelled"
      }
    }
  }

  public let id: BulkOperationID
  public let request: BulkRequest
  public var namespace: Namespace { request.filter.namespace }
  /// When it was accepted.
  public let createdAt: Timestamp
  public var state = State.counting
  /// When it ended.
  public var finishedAt: Timestamp?
  /// The number of matching calls once it has counted them; until then, those counted so far.
  public var matched = 0
  /// Calls that were changed, or replayed.
  public var done = 0
  /// Calls that could not be changed, because their state had changed meanwhile.
  public var skipped = 0
  /// The last examined call, newest first; older ones follow.
  public var cursor: CallID?

  /// The allowed rates, in calls per second.
  public static let rates = 1...10_000

  /// Creates an operation that has not begun.
  public init(id: BulkOperationID, request: BulkRequest, createdAt: Timestamp) {
    self.id = id
    self.request = request
    self.createdAt = createdAt
  }

  /// The matching calls. Calls that end after the operation was accepted do not match, so that none is retried twice,
  /// and no new call of a replay is replayed.
  public var filter: CallFilter {
    var filter = request.filter
    switch request.action {
    case .retry, .purge, .replay: filter.endedBy = createdAt
    case .cancel, .release: break
    }
    return filter
  }

  /// Writes it as one object.
  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("id", id.description)
    request.writeMembers(to: &writer)
    writer.field("state", state.name)
    writer.field("createdAt", createdAt)
    writer.field("finishedAt", finishedAt)
    writer.field("matched", matched)
    writer.field("done", done)
    writer.field("skipped", skipped)
    writer.endObject()
  }
}

/// The id of a bulk operation: its time of acceptance in microseconds. Its text is `op_` and 13 characters.
public struct BulkOperationID: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The integer; never negative.
  public var rawValue: Int64

  /// Creates an id from its integer.
  public init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  /// Reads the text of an id; nil if it is not one.
  public init?(_ text: some StringProtocol) {
    guard text.hasPrefix("op_"), let call = CallID("call_" + text.dropFirst(3)) else { return nil }
    rawValue = call.rawValue
  }

  /// The text of the id.
  public var description: String { "op_" + CallID(rawValue: rawValue).characters }

  /// Whether the first id is older.
  public static func < (a: BulkOperationID, b: BulkOperationID) -> Bool { a.rawValue < b.rawValue }
}

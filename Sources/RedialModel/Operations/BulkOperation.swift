public import RedialCore

/// The same thing done to every call that a filter means, a few at a time.
public struct BulkOperation: Sendable, Hashable {
  /// What is done to each call. The numbers are the store's.
  public enum Action: UInt8, Sendable, Hashable, CaseIterable {
    /// Run calls again that have ended.
    case retry = 0
    /// End calls that have not.
    case cancel = 1
    /// Run calls now that wait.
    case release = 2
    /// Remove calls that have ended.
    case purge = 3

    /// The word of the wire.
    public var name: String {
      switch self {
      case .retry: "retry"
      case .cancel: "cancel"
      case .release: "release"
      case .purge: "purge"
      }
    }

    /// The states that it applies to; the first is the default. Nil if a state must be given.
    var states: (allowed: [CallState], unsaid: CallState?) {
      switch self {
      case .retry: ([.succeeded, .failed, .cancelled], .failed)
      case .cancel: ([.scheduled, .running], .scheduled)
      case .release: ([.scheduled], .scheduled)
      case .purge: ([.succeeded, .failed, .cancelled], nil)
      }
    }
  }

  /// How far it is. The numbers are the store's.
  public enum State: UInt8, Sendable, Hashable, CaseIterable {
    /// It counts the calls that are meant. Leads to `running`, `cancelled`.
    case counting = 0
    /// It runs. Leads to `completed`, `cancelled`.
    case running = 1
    /// An end.
    case completed = 2
    /// An end.
    case cancelled = 3

    /// Whether it has ended.
    public var isFinal: Bool { rawValue >= State.completed.rawValue }

    /// The word of the wire.
    public var name: String {
      switch self {
      case .counting: "counting"
      case .running: "running"
      case .completed: "completed"
      case .cancelled: "cancelled"
      }
    }
  }

  /// Its identity.
  public let id: BulkOperationID
  /// What is asked for.
  public let request: BulkRequest
  /// Whose it is.
  public var namespace: Namespace { request.filter.namespace }
  /// When it was accepted.
  public let createdAt: Timestamp
  /// How far it is.
  public var state = State.counting
  /// When it ended.
  public var finishedAt: Timestamp?
  /// The calls that were meant when it had counted them; until then, those counted so far.
  public var matched = 0
  /// Calls that it was done to.
  public var done = 0
  /// Calls that it could not be done to, for they had changed meanwhile.
  public var skipped = 0
  /// The last call that was looked at, newest first; what is older is still to be.
  public var cursor: CallID?

  /// The rates that there are, in calls a second.
  public static let rates = 1...10_000

  /// Creates an operation that has not begun.
  public init(id: BulkOperationID, request: BulkRequest, createdAt: Timestamp) {
    self.id = id
    self.request = request
    self.createdAt = createdAt
  }

  /// The calls that are meant. What ends after the operation was accepted is not, so that none is run again twice.
  public var filter: CallFilter {
    var filter = request.filter
    if request.action == .retry || request.action == .purge { filter.endedBy = createdAt }
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

/// The identity of a bulk operation: its time of acceptance in microseconds. Its text is `op_` and 13 characters.
public struct BulkOperationID: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The integer; never negative.
  public var rawValue: Int64

  /// Creates an identity from its integer.
  public init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  /// Reads the text of an identity; nil when it is none.
  public init?(_ text: some StringProtocol) {
    guard text.hasPrefix("op_"), let call = CallID("call_" + text.dropFirst(3)) else { return nil }
    rawValue = call.rawValue
  }

  /// The text of the identity.
  public var description: String { "op_" + CallID(rawValue: rawValue).characters }

  /// Whether the first was given out earlier.
  public static func < (a: BulkOperationID, b: BulkOperationID) -> Bool { a.rawValue < b.rawValue }
}

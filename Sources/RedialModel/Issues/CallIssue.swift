public import RedialCore
public import RedialJSON
internal import RedialText

/// Calls that failed, that are late, or that fail again and again, for one cause.
public struct CallIssue: Sendable, Hashable {
  /// What is to be done about it.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// There is no statement about it.
    case open
    /// Somebody knows of it.
    case acknowledged
    /// No call is in it any more, or somebody has said that it is done with, and none has come since.
    case resolved
  }

  public var id: IssueID
  public var kind: CallKind
  public var target: TargetKey
  /// The error of its calls, without what differs from call to call; for late ones, that of their target's outage. Empty
  /// if there is none.
  public var error: String
  /// How many calls are in it.
  public var calls: Int
  /// When the first of them failed, or since when the oldest late one is due.
  public var firstAt: Timestamp
  /// When the last of them failed; now for late ones.
  public var lastAt: Timestamp
  /// How many failed in each of the last hours, the latest last; nil for late ones.
  public var hours: [Int]?
  /// The newest of them; nil for late ones.
  public var example: CallID?
  /// What its calls have in common beside their target, if they fail again and again.
  private var part: FailingPart.Mark?
  /// The last statement about it.
  public var mark: IssueMark?

  /// An issue of failed calls.
  public init(
    _ id: IssueID, _ group: FailedGroup, calls: Int, firstAt: Timestamp, lastAt: Timestamp, hours: [Int],
    example: CallID
  ) {
    self.id = id
    (kind, target, error) = (group.kind, group.target, group.error)
    self.calls = calls
    (self.firstAt, self.lastAt, self.hours, self.example) = (firstAt, lastAt, hours, example)
  }

  /// The calls that wait for a target, an issue for each wait reason, once its oldest due call is late.
  ///
  /// - Parameter least: How long its oldest due call has been due at least; otherwise none is late.
  public static func late(_ target: TargetSnapshot, after least: Duration, at now: Timestamp) -> [CallIssue] {
    guard let (oldest, waits) = target.late(after: least, at: now) else { return [] }
    let kind: CallKind = target.key.endpoint == nil ? .call : .webhook
    return WaitReason.allCases.compactMap { reason in
      guard let count = waits[reason] else { return nil }
      var issue = CallIssue(IssueID(kind, target.key, .late(reason), ""), kind, target.key, since: oldest, at: now)
      issue.calls = count
      issue.error = target.outage?.cause ?? ""
      return issue
    }
  }

  /// The calls that fail again and again and wait for their backoff, while the rest of the target works: an issue for each
  /// of its parts.
  public static func failing(_ target: TargetSnapshot) -> [CallIssue] {
    let kind: CallKind = target.key.endpoint == nil ? .call : .webhook
    return target.failing.map { part in
      let id = IssueID(kind, target.key, .late(.backoff), part.text)
      var issue = CallIssue(id, kind, target.key, since: part.since, at: part.lastAt)
      (issue.calls, issue.error, issue.part) = (part.calls, "\(part.text): \(part.cause)", part.mark)
      return issue
    }
  }

  /// An issue that has no calls any more, as it was at the time of a statement.
  public init?(marked mark: IssueMark) {
    guard let id = IssueID(mark.id), let target = mark.targetKey,
      let kind = UInt8(exactly: mark.kind).flatMap(CallKind.init(rawValue:))
    else { return nil }
    self.init(id, kind, target, since: mark.firstAt, at: mark.lastAt)
    error = mark.error
    self.mark = mark
  }

  /// An issue of late calls as another instance shows it; nil if it cannot be read.
  public init?(shown json: [UInt8], in namespace: Namespace) {
    var (id, kind, target): (IssueID?, CallKind?, TargetKey?)
    var (error, calls, firstAt, lastAt): (String?, Int?, Timestamp?, Timestamp?)
    var part: FailingPart.Mark?
    do throws(JSONError) {
      try json.withUnsafeBufferPointer { bytes throws(JSONError) in
        var reader = JSONReader(bytes)
        try reader.beginObject()
        while let name = try reader.nextKey() {
          if try reader.null() { continue }
          switch name {
          case "id": id = IssueID(try reader.string())
          case "kind":
            let word = try reader.string()
            kind = CallKind.allCases.first { $0.name == word }
          case "target": target = TargetKey(try reader.string(), in: namespace)
          case "error": error = try reader.string()
          case "calls": calls = Int(try reader.integer())
          case "firstAt": firstAt = try Timestamp.read(&reader)
          case "lastAt": lastAt = try Timestamp.read(&reader)
          case "filter": part = try FailingPart.Mark(filter: &reader)
          default: _ = try reader.skipValue()
          }
        }
      }
    } catch { return nil }
    guard let id, let kind, let target, let calls, let firstAt, let lastAt else { return nil }
    self.init(id, kind, target, since: firstAt, at: lastAt)
    (self.calls, self.error, self.part) = (calls, error ?? "", part)
  }

  private init(_ id: IssueID, _ kind: CallKind, _ target: TargetKey, since: Timestamp, at now: Timestamp) {
    (self.id, self.kind, self.target, error, calls) = (id, kind, target, "", 0)
    (firstAt, lastAt) = (since, now)
  }

  /// Whether its calls have not failed for good: they are late, or are tried again.
  public var isPending: Bool { id.failure == nil }

  /// The word for what its calls are.
  private var type: String {
    switch id.cause {
    case .failed: "failed"
    case .late(.backoff): "failing"
    case .late: "late"
    }
  }

  /// What is to be done about it.
  public func state(at now: Timestamp) -> State { Self.state(calls: calls, lastAt: lastAt, mark, at: now) }

  /// What is to be done about an issue with so many calls, the last of which came then, after a statement.
  public static func state(calls: Int, lastAt: Timestamp, _ mark: IssueMark?, at now: Timestamp) -> State {
    guard calls > 0 else { return .resolved }
    guard let mark else { return .open }
    if mark.isResolved { return lastAt > mark.at ? .open : .resolved }
    return (mark.until ?? now) > now ? .acknowledged : .open
  }

  /// Writes it as one object.
  ///
  /// - Parameter affected: Whom it concerns, if that is shown.
  public func write(at now: Timestamp, affected: AffectedCalls? = nil, to writer: inout JSONWriter) {
    let state = state(at: now)
    writer.beginObject()
    writer.field("id", id.description)
    writer.field("state", state.rawValue)
    writer.field("type", type)
    writer.field("kind", kind.name)
    writer.field("target", target.bare)
    writer.key("reason")
    writer.string(id.cause.name)
    writer.field("error", error.isEmpty ? nil : error)
    writer.field("calls", calls)
    writer.field("firstAt", firstAt)
    writer.field("lastAt", lastAt)
    writer.key("lastHours")
    if let hours {
      writer.beginArray()
      for hour in hours { writer.integer(Int64(hour)) }
      writer.endArray()
    } else {
      writer.null()
    }
    writer.field("example", example?.description)
    writer.key("mark")
    if let mark { mark.write(to: &writer) } else { writer.null() }
    writer.key("filter")
    filter.write(to: &writer)
    if let affected {
      writer.key("affected")
      affected.write(to: &writer)
    }
    writer.endObject()
  }

  /// What selects its calls.
  public var filter: CallFilter {
    var filter = CallFilter(kind: kind)
    filter.namespace = target.namespace
    if case .late(let reason) = id.cause {
      filter.target = target.bare
      filter.waitingOn = reason
      switch part {
      case .path(let path):
        let fixed = path.prefix { $0 != "{" }
        if fixed != "/" { filter.urlPart = String(fixed) }
      case .label(let label): filter.labels = [label]
      case .credential, .ownSide, nil: break
      }
    } else {
      filter.issue = id
    }
    return filter
  }
}

extension FailingPart.Mark {
  /// Reads it from the filter of an issue; nil if that names neither a path nor a label.
  fileprivate init?(filter reader: inout JSONReader) throws(JSONError) {
    var mark: Self?
    try reader.beginObject()
    while let name = try reader.nextKey() {
      switch name {
      case "url": mark = .path(try reader.string())
      case "labels":
        try reader.beginObject()
        while let label = try reader.nextKey() {
          mark = .label(CallSpec.Label(name: label, value: try reader.string()))
        }
      default: _ = try reader.skipValue()
      }
    }
    guard let mark else { return nil }
    self = mark
  }
}

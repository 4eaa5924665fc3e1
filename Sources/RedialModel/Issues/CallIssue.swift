public import RedialCore
public import RedialJSON
internal import RedialText

/// Something that is wrong, and the calls that it concerns.
public struct CallIssue: Sendable, Hashable {
  /// What is to be done about it.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// There is no statement about it.
    case open
    /// Somebody knows of it.
    case acknowledged
    /// It is over, or somebody has said that it is done with, and no call has come since.
    case resolved
  }

  public var id: IssueID
  /// That of its calls.
  public var callKind: CallKind
  /// Its target; an empty one in the default namespace for what a check of the store finds.
  public var target: TargetKey
  /// The error of its calls, without what differs from call to call; what an outage began with; the check of the store. Empty
  /// if there is none.
  public var error: String
  /// How many calls it concerns.
  public var calls: Int
  /// Since when it is so: when the first call failed, since when the oldest late one is due.
  public var firstAt: Timestamp
  /// When the last of its calls failed; otherwise now.
  public var lastAt: Timestamp
  /// How many failed in each of the last hours, the latest last; nil unless they have failed.
  public var hours: [Int]?
  /// The newest of those that failed.
  public var example: CallID?
  /// What most of its calls wait for; nil for failed ones.
  public private(set) var waitsFor: WaitReason?
  /// What selects its calls; nil if nothing does.
  public private(set) var filter: CallFilter?
  /// Whether it is there still: a target that is down may have none.
  private var isThere = false
  /// Whether an outage is nearly over: then it opens no issue, and keeps one open that an alert has reported.
  public var isEnding = false
  /// The last statement about it.
  public var mark: IssueMark?

  /// An issue of failed calls.
  public init(
    _ id: IssueID, _ group: FailedGroup, calls: Int, firstAt: Timestamp, lastAt: Timestamp, hours: [Int],
    example: CallID
  ) {
    self.init(id, group.kind, group.target, since: firstAt, at: lastAt)
    (error, self.calls, self.hours, self.example) = (group.error, calls, hours, example)
  }

  /// What is wrong with a target now, but for calls that failed.
  ///
  /// - Parameter lateAfter: From when on a due call is late.
  public static func of(_ target: TargetSnapshot, lateAfter: Duration, at now: Timestamp) -> [CallIssue] {
    let kind: CallKind = target.key.endpoint == nil ? .call : .webhook
    // Those in their backoff wait for the target, too.
    let waiting = max(target.waiting, target.backlog.total)
    var issues: [CallIssue] = []
    func add(
      _ cause: IssueID.Cause, _ part: String = "", since: Timestamp, lastAt: Timestamp? = nil, calls: Int,
      error: String,
      waitsFor: WaitReason?, filter: CallFilter? = nil, isEnding: Bool = false
    ) {
      var issue = CallIssue(IssueID(kind, target.key, cause, part), kind, target.key, since: since, at: lastAt ?? now)
      (issue.calls, issue.error, issue.waitsFor, issue.isThere) = (calls, error, waitsFor, true)
      if let filter { issue.filter = filter }
      issue.isEnding = isEnding
      issues.append(issue)
    }
    let isHeld = target.isPaused || target.isTripped
    if let outage = target.outage {
      add(
        .down, since: outage.since, calls: waiting, error: outage.cause, waitsFor: .breaker,
        isEnding: outage.closedAt != nil)
    } else if !isHeld, waiting > 0, target.recent.isFailing(at: now) {
      // Where none waits, those that have failed say it.
      add(
        .failing, since: now + .seconds(-60 * RecentAttempts.Window.quarterHour.minutes), calls: waiting,
        error: "no attempt has succeeded in 15 minutes", waitsFor: .backoff)
    }
    if isHeld, target.waiting > 0 {
      add(
        .held, since: target.oldestDueAt ?? now, calls: waiting, error: target.isPaused ? "paused" : "tripped",
        waitsFor: target.isPaused ? .paused : .breaker)
    }
    let isDown = target.outage.map { $0.closedAt == nil } ?? false
    if !isDown, !isHeld, let (oldest, waits) = target.late(after: lateAfter, at: now), !waits.isEmpty {
      let most = waits.min { ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue) }
      add(
        .late, since: oldest, calls: waits.values.reduce(0, +), error: target.outage?.cause ?? "", waitsFor: most?.key,
        filter: waits.count == 1 ? .waiting(for: most?.key, at: target.key, kind) : nil)
    }
    for part in target.failing {
      add(
        .failing, part.text, since: part.since, lastAt: part.lastAt, calls: part.calls,
        error: "\(part.text): \(part.cause)", waitsFor: .backoff,
        filter: .waiting(for: .backoff, at: target.key, kind, part.mark))
    }
    return issues
  }

  /// Calls that a check of the store finds.
  public init(check: String, calls: Int, at now: Timestamp) {
    let none = TargetKey("", in: .default)
    self.init(IssueID(.call, none, .stuck, check), .call, none, since: now, at: now)
    (self.calls, error, isThere) = (calls, check, true)
  }

  /// An issue that has no calls any more, as it was at the time of a statement.
  public init?(marked mark: IssueMark) {
    guard let id = IssueID(mark.id), let kind = UInt8(exactly: mark.kind).flatMap(CallKind.init(rawValue:))
    else { return nil }
    self.init(id, kind, mark.targetKey, since: mark.firstAt, at: mark.lastAt)
    error = mark.error
    self.mark = mark
  }

  /// An issue as another instance shows it; nil if it cannot be read.
  public init?(shown json: [UInt8], in namespace: Namespace) {
    var (id, target, error): (IssueID?, TargetKey?, String?)
    var (calls, firstAt, lastAt): (Int?, Timestamp?, Timestamp?)
    var (waitsFor, filter): (WaitReason?, CallFilter?)
    do throws(JSONError) {
      try json.withUnsafeBufferPointer { bytes throws(JSONError) in
        var reader = JSONReader(bytes)
        try reader.beginObject()
        while let name = try reader.nextKey() {
          if try reader.null() { continue }
          switch name {
          case "id": id = IssueID(try reader.string())
          case "target": target = TargetKey(try reader.string(), in: namespace)
          case "reason":
            let word = try reader.string()
            waitsFor = WaitReason.allCases.first { "\($0.name)" == word }
          case "error": error = try reader.string()
          case "calls": calls = Int(try reader.integer())
          case "firstAt": firstAt = try Timestamp.read(&reader)
          case "lastAt": lastAt = try Timestamp.read(&reader)
          case "filter":
            let text = reader.raw(try reader.skipValue())
            var parts = DescriptorReader(json: JSONReader(text), limits: .unlimited)
            var found = CallFilter()
            found.namespace = namespace
            // It has no durations.
            try found.read("", from: &parts, at: .epoch)
            filter = found
          default: _ = try reader.skipValue()
          }
        }
      }
    } catch { return nil }
    guard let id, let calls, let firstAt, let lastAt else { return nil }
    self.init(id, filter?.kind ?? .call, target ?? TargetKey("", in: namespace), since: firstAt, at: lastAt)
    (self.calls, self.error, self.waitsFor, self.filter, isThere) = (calls, error ?? "", waitsFor, filter, true)
  }

  private init(_ id: IssueID, _ kind: CallKind, _ target: TargetKey, since: Timestamp, at now: Timestamp) {
    (self.id, callKind, self.target, error, calls) = (id, kind, target, "", 0)
    (firstAt, lastAt) = (since, now)
    guard id.kind != .stuck else { return }
    var filter = CallFilter(kind: kind)
    filter.namespace = target.namespace
    if id.kind == .failed {
      filter.issue = id
    } else {
      (filter.target, filter.states) = (target.bare, [.scheduled])
    }
    self.filter = filter
  }

  /// What is to be done about it.
  public func state(at now: Timestamp) -> State {
    Self.state(isThere: isThere || calls > 0, lastAt: lastAt, mark, at: now)
  }

  /// What is to be done about an issue, the last call of which came then, after a statement.
  public static func state(isThere: Bool, lastAt: Timestamp, _ mark: IssueMark?, at now: Timestamp) -> State {
    guard isThere else { return .resolved }
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
    writer.field("kind", id.kind.rawValue)
    writer.field("target", target.bare.isEmpty ? nil : target.bare)
    writer.key("reason")
    if let reason = id.failure?.name ?? waitsFor?.name { writer.string(reason) } else { writer.null() }
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
    if let filter { filter.write(to: &writer) } else { writer.null() }
    if let affected {
      writer.key("affected")
      affected.write(to: &writer)
    }
    writer.endObject()
  }
}

extension CallFilter {
  /// Selects the calls that wait for something at a target, those with something in common.
  fileprivate static func waiting(
    for reason: WaitReason?, at target: TargetKey, _ kind: CallKind, _ part: FailingPart.Mark? = nil
  ) -> CallFilter {
    var filter = CallFilter(kind: kind)
    (filter.namespace, filter.target, filter.waitingOn) = (target.namespace, target.bare, reason)
    switch part {
    case .path(let path):
      let fixed = path.prefix { $0 != "{" }
      if fixed != "/" { filter.urlPart = String(fixed) }
    case .label(let label): filter.labels = [label]
    case .credential, .ownSide, nil: break
    }
    return filter
  }
}

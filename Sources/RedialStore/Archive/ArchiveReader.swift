internal import RedialCore
internal import RedialModel
internal import RedialJSON
internal import RedialText

/// Reads a line of an archive.
struct ArchiveReader {
  /// How far the clock of the machine that accepted a call may have been ahead of this one.
  private static let maximumLead = Duration.seconds(86_400)

  private let now: Timestamp
  /// Whether the line ends with its checksum, which is right.
  private let isChecked: Bool
  var reader: JSONReader

  /// Reads a line, and compares it with its checksum if it has one.
  static func read<Found>(
    _ line: UnsafeBufferPointer<UInt8>, at now: Timestamp, _ body: (inout ArchiveReader) throws(JSONError) -> Found
  ) throws(JSONError) -> Found {
    var reader = ArchiveReader(line, at: now, isChecked: LineChecksum.isThere(line))
    let found = try body(&reader)
    if reader.isChecked { try LineChecksum.check(line) }
    return found
  }

  private init(_ bytes: UnsafeBufferPointer<UInt8>, at now: Timestamp, isChecked: Bool) {
    self.now = now
    self.isChecked = isChecked
    reader = JSONReader(bytes)
  }

  mutating func call() throws(JSONError) -> ArchivedCall {
    var id: CallID?
    var kind: CallKind?
    var state: StoredState?
    var (createdAt, due, roundStartedAt, finishedAt): (Timestamp?, Timestamp?, Timestamp?, Timestamp?)
    var progress = CallProgress(state: .held, due: .epoch, roundStartedAt: .epoch)
    var spec: CallSpec?
    var body: [UInt8]?
    var attempts: [AttemptRecord]?
    var retries: [ManualRetry] = []
    var key: KeyRecord?
    var hasTurn: Bool?
    try reader.beginObject()
    while let name = try reader.nextKey() {
      switch name {
      case "id": id = try identity()
      case "kind": kind = try word(name, ArchiveWords.kinds)
      case "createdAt": createdAt = try time()
      case "state": state = try word(name, ArchiveWords.states)
      case "due": due = try time()
      case "waiting": progress.waiting = try isNull() ? nil : try word(name, ArchiveWords.waits)
      case "attemptCount": progress.attempts = try count(name)
      case "interruptions":
        progress.interruptions = try count(name)
        // One store counted further than the other can keep it.
        progress.unprovenAttempts += 0
      case "attemptsBefore": progress.attemptsBefore = try count(name)
      case "roundStartedAt": roundStartedAt = try time()
      case "finishedAt": finishedAt = try isNull() ? nil : try time()
      case "failure": progress.failure = try isNull() ? nil : try word(name, ArchiveWords.failures)
      case "issue": progress.issue = try issue()
      case "previousWait": progress.waits.previous = try duration()
      case "totalWait": progress.waits.total = try duration()
      case "spec": spec = try CallSpec.read(canonicalJSON: reader.raw(try reader.skipValue()))
      case "body": body = try base64(name)
      case "attempts": attempts = try allAttempts()
      case "retries": retries = try allRetries()
      case "hasTurn": hasTurn = try reader.bool()
      case "key": key = try idempotencyKey()
      case "checksum": try checksum()
      default: throw unknown(name)
      }
    }
    try reader.finish()
    let known = try required(id, "id")
    progress.state = try required(state, "state")
    progress.due = try required(due, "due")
    progress.roundStartedAt = try required(roundStartedAt, "roundStartedAt")
    progress.finishedAt = finishedAt
    if let issue = progress.issue, issue.failure == nil || issue.failure != progress.failure {
      throw error("issue does not fit failure")
    }
    guard progress.state.isFinal == (finishedAt != nil) else {
      throw error("finishedAt does not fit the state \(progress.state)")
    }
    key?.call = known
    var record = CallRecord(
      id: known, kind: try required(kind, "kind"), spec: try required(spec, "spec"),
      body: try required(body, "body"), createdAt: try required(createdAt, "createdAt"), progress: progress)
    record.retries = retries
    return ArchivedCall(record: record, attempts: try required(attempts, "attempts"), key: key, hasTurn: hasTurn)
  }

  private mutating func allAttempts() throws(JSONError) -> [AttemptRecord] {
    var attempts: [AttemptRecord] = []
    try reader.beginArray()
    while try reader.nextElement() { attempts.append(try attempt()) }
    for (earlier, later) in zip(attempts, attempts.dropFirst()) where earlier.number >= later.number {
      throw error("the attempts are not in the order of their numbers")
    }
    return attempts
  }

  private mutating func attempt() throws(JSONError) -> AttemptRecord {
    var number: Int?
    var startedAt: Timestamp?
    var outcome: OutcomeClass?
    var record = AttemptRecord(number: 0, startedAt: .epoch, duration: .zero, outcome: .answered)
    var (code, message): (String?, String?)
    var truncated: Bool?
    var (head, body): ([UInt8], [UInt8]) = ([], [])
    try reader.beginObject()
    while let name = try reader.nextKey() {
      switch name {
      case "number": number = try count(name)
      case "startedAt": startedAt = try time()
      case "duration": record.duration = try duration()
      case "outcome": outcome = try word(name, ArchiveWords.outcomes)
      case "status": record.status = try count(name)
      case "failureCode": code = try reader.string()
      case "failureMessage": message = try reader.string()
      case "decision":
        let stored = try base64(name)
        record.decision = stored.isEmpty ? nil : try AttemptDecision(json: stored)
      case "figures": record.figures = try figures(name)
      case "truncated": truncated = try reader.bool()
      case "responseHead": head = try base64(name)
      case "responseBody": body = try base64(name)
      default: throw unknown(name)
      }
    }
    record.number = try required(number, "number")
    record.startedAt = try required(startedAt, "startedAt")
    record.outcome = try required(outcome, "outcome")
    if let code { record.failure = AttemptFailure(code: code, message: message ?? "") }
    if let truncated {
      record.response = CapturedResponse(head: HeaderBlock(bytes: head), body: body, truncated: truncated)
    }
    return record
  }

  private mutating func allRetries() throws(JSONError) -> [ManualRetry] {
    var retries: [ManualRetry] = []
    try reader.beginArray()
    while try reader.nextElement() { retries.append(try retry()) }
    guard retries.count <= ManualRetry.mostKept else {
      throw error("retries: there are \(retries.count), and no more than \(ManualRetry.mostKept) are kept")
    }
    return retries
  }

  private mutating func retry() throws(JSONError) -> ManualRetry {
    var (at, afterAttempt): (Timestamp?, Int?)
    var attribution = Attribution()
    try reader.beginObject()
    while let name = try reader.nextKey() {
      switch name {
      case "at": at = try time()
      case "afterAttempt": afterAttempt = try count(name)
      case "by": attribution.by = try reader.string()
      case "reason": attribution.reason = try reader.string()
      default: throw unknown(name)
      }
    }
    return ManualRetry(
      at: try required(at, "at"), afterAttempt: try required(afterAttempt, "afterAttempt"), attribution: attribution)
  }

  private mutating func idempotencyKey() throws(JSONError) -> KeyRecord {
    var text: String?
    var fingerprint: [UInt8]?
    var (createdAt, expiresAt): (Timestamp?, Timestamp?)
    try reader.beginObject()
    while let name = try reader.nextKey() {
      switch name {
      case "text": text = try reader.string()
      case "fingerprint": fingerprint = try base64(name)
      case "createdAt": createdAt = try time()
      case "expiresAt": expiresAt = try time()
      default: throw unknown(name)
      }
    }
    return KeyRecord(
      key: IdempotencyKey(
        IdempotencyName(qualified: try required(text, "text")), fingerprint: try required(fingerprint, "fingerprint")),
      call: CallID(rawValue: 0), createdAt: try required(createdAt, "createdAt"),
      expiresAt: try required(expiresAt, "expiresAt"))
  }

  // MARK: Values

  mutating func checksum() throws(JSONError) {
    guard isChecked else { throw error("checksum is not the last member, as it was written; remove it") }
    _ = try reader.string()
  }

  private mutating func identity() throws(JSONError) -> CallID {
    let text = try reader.string()
    guard let id = CallID(text) else { throw error("\"\(text)\" is not the id of a call") }
    guard id.createdAt <= now + Self.maximumLead else {
      throw error("\"\(text)\" is of \(TimestampText.format(id.createdAt)), more than a day from now; check the clock")
    }
    return id
  }

  private mutating func issue() throws(JSONError) -> IssueID {
    let text = try reader.string()
    guard let issue = IssueID(text) else { throw error("\"\(text)\" is not the id of an issue") }
    return issue
  }

  mutating func time() throws(JSONError) -> Timestamp { Timestamp(microseconds: try reader.integer()) }
  private mutating func duration() throws(JSONError) -> Duration { .microseconds(try reader.integer()) }

  mutating func count(_ name: String) throws(JSONError) -> Int {
    let value = try reader.integer()
    guard (0...Int64(Int32.max)).contains(value) else { throw error("\(name): \(value) is not a count") }
    return Int(value)
  }

  mutating func word<Word>(_ name: String, _ words: [String: Word]) throws(JSONError) -> Word {
    let text = try reader.string()
    guard let word = words[text] else { throw error("\(name): \"\(text)\" is not one of \(words.keys.sorted())") }
    return word
  }

  mutating func base64(_ name: String) throws(JSONError) -> [UInt8] {
    guard let bytes = Base64.decode(try reader.string()) else { throw error("\(name) is not base 64") }
    return bytes
  }

  private mutating func figures(_ name: String) throws(JSONError) -> ExchangeFigures {
    guard let figures = ExchangeFigures(encoded: try base64(name)) else { throw error("\(name) is not valid") }
    return figures
  }

  private mutating func isNull() throws(JSONError) -> Bool {
    guard try reader.peek() == .null else { return false }
    _ = try reader.skipValue()
    return true
  }

  func required<Value>(_ value: Value?, _ name: String) throws(JSONError) -> Value {
    guard let value else { throw error("\(name) is missing") }
    return value
  }

  func unknown(_ name: String) -> JSONError { error("\(name) is not known") }
  func error(_ reason: String) -> JSONError { JSONError(offset: reader.offset, reason: reason) }
}

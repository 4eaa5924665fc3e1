internal import RedialCore
public import RedialJSON

extension BulkOperation {
  private struct Fields: StoredRecord {
    var id = 0
    var request = RawJSON()
    var namespace = ""
    var createdAt = Timestamp.epoch
    var state = 0
    var finishedAt: Timestamp?
    var matched = 0
    var done = 0
    var skipped = 0
    var cursor: Int?

    static func fields<Visitor: FieldVisitor & ~Copyable>(
      _ visitor: inout Visitor, _ record: inout Fields
    ) throws(Visitor.Failure) {
      try visitor.visit("id", &record.id)
      try visitor.visit("request", &record.request)
      try visitor.visit("namespace", &record.namespace)
      try visitor.visit("createdAt", &record.createdAt)
      try visitor.visit("state", &record.state)
      try visitor.visit("finishedAt", &record.finishedAt)
      try visitor.visit("matched", &record.matched)
      try visitor.visit("done", &record.done)
      try visitor.visit("skipped", &record.skipped)
      try visitor.visit("cursor", &record.cursor)
    }
  }

  /// It as a store has it.
  public var document: StoredDocument {
    var fields = Fields()
    fields.id = Int(id.rawValue)
    fields.request.bytes = request.json
    fields.namespace = namespace.name
    fields.createdAt = createdAt
    fields.state = Int(state.rawValue)
    fields.finishedAt = finishedAt
    fields.matched = matched
    fields.done = done
    fields.skipped = skipped
    fields.cursor = cursor.map { Int($0.rawValue) }
    return StoredDocument(.operation, id: id.documentID, fields.bytes)
  }

  /// Reads ``document``.
  public init(_ content: UnsafeBufferPointer<UInt8>) throws(JSONError) {
    let fields = try Fields(content)
    let request = fields.request.bytes.withUnsafeBufferPointer { bytes in
      Result { () throws(Problem) in try BulkRequest.read(bytes, rate: Self.rates.lowerBound, at: fields.createdAt) }
    }
    if case .failure(let problem) = request { throw JSONError(stored: problem, at: "/request") }
    guard case .success(var request) = request, let namespace = Namespace(fields.namespace),
      let state = UInt8(exactly: fields.state).flatMap(State.init(rawValue:))
    else {
      throw JSONError(offset: 0, reason: "it has a namespace or a state that is not known")
    }
    request.filter.namespace = namespace
    self.init(id: BulkOperationID(rawValue: Int64(fields.id)), request: request, createdAt: fields.createdAt)
    self.state = state
    finishedAt = fields.finishedAt
    matched = fields.matched
    done = fields.done
    skipped = fields.skipped
    cursor = fields.cursor.map { CallID(rawValue: Int64($0)) }
  }
}

extension BulkOperationID {
  /// The id of the operation's document.
  public var documentID: String { "\(rawValue)" }
}

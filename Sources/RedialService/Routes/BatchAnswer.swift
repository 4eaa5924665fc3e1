internal import HTTPServer
internal import RedialModel
internal import Synchronization
internal import RedialJSON

/// Collects the answers to the items of a batch, and sends them in order once all are there.
final class BatchAnswer: BatchAnswering {
  /// The format of the answer.
  enum Form: Sendable {
    /// One JSON object with an array.
    case json
    /// One line per item (NDJSON).
    case lines
  }

  private struct Gathered: Sendable {
    var items: [[UInt8]]
    var missing: Int
  }

  let replays = ReplayQueue()
  private let gathered: Mutex<Gathered>
  private let form: Form
  let responder: HTTPResponder
  private let respond: @Sendable (HTTPResponse) -> Void

  /// - Parameters:
  ///   - responder: Leads to the event loop of its client.
  ///   - respond: Called once, when all items are there.
  init(
    count: Int, form: Form, to responder: HTTPResponder, respond: @escaping @Sendable (HTTPResponse) -> Void
  ) {
    self.responder = responder
    gathered = Mutex(Gathered(items: Array(repeating: [], count: count), missing: count))
    self.form = form
    self.respond = respond
  }

  /// Answers one item with a call.
  func answer(
    _ index: Int, id: CallID, status: Int, repetition: IdempotencyStatus?, call: (inout JSONWriter) -> Void
  ) {
    var writer = JSONWriter(capacity: 768)
    writer.beginObject()
    writer.field("status", status)
    if let repetition { writer.field("idempotencyStatus", repetition.rawValue) }
    writer.key("call")
    call(&writer)
    writer.endObject()
    put(writer.bytes, at: index)
  }

  /// Answers one item with a problem.
  func answer(_ index: Int, _ problem: Problem) {
    var writer = JSONWriter(capacity: 512)
    writer.beginObject()
    writer.field("status", problem.status)
    writer.key("problem")
    writer.raw(problem.json)
    writer.endObject()
    put(writer.bytes, at: index)
  }

  private func put(_ item: [UInt8], at index: Int) {
    let all = gathered.withLock { gathered -> [[UInt8]]? in
      gathered.items[index] = item
      gathered.missing -= 1
      return gathered.missing == 0 ? gathered.items : nil
    }
    if let all { respond(response(all)) }
  }

  private func response(_ items: [[UInt8]]) -> HTTPResponse {
    var body: [UInt8] = []
    body.reserveCapacity(items.reduce(16) { $0 + $1.count + 1 })
    switch form {
    case .json:
      body += "{\"data\":[".utf8
      for (index, item) in items.enumerated() {
        if index > 0 { body.append(UInt8(ascii: ",")) }
        body += item
      }
      body += "]}".utf8
      return HTTPResponse(status: 200, headers: [HTTPHeader("content-type", "application/json")], body: body)
    case .lines:
      for item in items {
        body += item
        body.append(UInt8(ascii: "\n"))
      }
      return HTTPResponse(status: 200, headers: [HTTPHeader("content-type", "application/x-ndjson")], body: body)
    }
  }
}

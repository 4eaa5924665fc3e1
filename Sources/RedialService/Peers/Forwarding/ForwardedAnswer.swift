internal import HTTPServer
internal import RedialEngine
internal import RedialModel
internal import Synchronization

/// Collects the answers to the submissions of one request of another instance, and sends them when all are there.
final class ForwardedAnswer: Sendable {
  private struct Gathered: Sendable {
    var items: [[UInt8]]
    var missing: Int
  }

  private let gathered: Mutex<Gathered>
  private let responder: HTTPResponder

  init(count: Int, to responder: HTTPResponder) {
    gathered = Mutex(Gathered(items: Array(repeating: [], count: count), missing: count))
    self.responder = responder
  }

  /// Answers one submission, once.
  func answer(_ index: Int, _ reply: SubmissionReply) {
    let item = ForwardedCoding.item(ForwardedReply(reply))
    let all = gathered.withLock { gathered -> [[UInt8]]? in
      gathered.items[index] = item
      gathered.missing -= 1
      return gathered.missing == 0 ? gathered.items : nil
    }
    if let all { responder.respond(HTTPResponse(status: 200, body: ForwardedCoding.answer(all))) }
  }
}

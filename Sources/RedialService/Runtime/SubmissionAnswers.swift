internal import HTTPServer
internal import RedialModel

/// The answers to the submissions of one commit. The event loops of the clients make them, because the lanes of store
/// and engine have other work.
struct SubmissionAnswers: Sendable {
  /// The content of an answer.
  enum Content: Sendable {
    /// The call, and why it waits.
    case accepted(CallRecord, CallView.Wait?)
    case refused(Problem)
  }

  /// An answer to one item of a batch.
  private struct Item: Sendable {
    let index: Int
    let content: Content
  }

  private var clients: [(HTTPResponder, Content)] = []
  /// The items in their order, those of one batch together.
  private var batches: [(batch: any BatchAnswering, items: [Item])] = []
  /// The maximum number of answers.
  private let most: Int

  init(most: Int) {
    self.most = most
  }

  /// Adds the answer to a client.
  mutating func add(_ content: Content, to responder: HTTPResponder) {
    if clients.isEmpty { clients.reserveCapacity(most) }
    clients.append((responder, content))
  }

  /// Adds the answer to an item of a batch.
  mutating func add(_ content: Content, to batch: any BatchAnswering, at index: Int) {
    if batches.last?.batch !== batch { batches.append((batch, [])) }
    batches[batches.count - 1].items.append(Item(index: index, content: content))
  }

  /// Sends all of them.
  func send(_ redaction: Redaction) {
    if !clients.isEmpty {
      HTTPResponder.respond(clients) { content in
        switch content {
        case .accepted(let record, let wait): Answer.accepted(record, wait: wait, redaction)
        case .refused(let problem): Answer.problem(problem)
        }
      }
    }
    for (batch, items) in batches {
      batch.responder.onLoop {
        for item in items {
          switch item.content {
          case .accepted(let record, let wait):
            batch.answer(item.index, id: record.id, status: 202, repetition: nil) {
              CallView.write(record, attempts: [], wait: wait, redaction: redaction, withWarnings: true, to: &$0)
            }
          case .refused(let problem): batch.answer(item.index, problem)
          }
        }
      }
    }
  }
}

import Glibc
import RedialLanes
import Synchronization

/// How the rest of the program reaches a loop.
final class LoopMailbox: Sendable {
  enum Message: Sendable {
    case answer(RequestToken, HTTPResponse)
    /// Runs something on the loop.
    case run(@Sendable () -> Void)
    case abort(RequestToken)
    /// Begins an answer in pieces.
    case begin(RequestToken, HTTPResponse, StreamBacklog)
    /// Something was written to the stream, or it was ended.
    case flush(RequestToken)
    /// Requests a notification when the client leaves.
    case observe(RequestToken, @Sendable () -> Void)
    /// The rest of the body is wanted.
    case resume(RequestToken)
    /// Another loop leaves the connections of a shared socket to this one.
    case accept
    case drain(milliseconds: UInt64)
    case stop
  }

  private let mailbox = Mailbox<Message>()
  private let bell: Bell
  /// The thread that runs the loop; 0 before and after.
  private let owner = Atomic<UInt>(0)
  /// For the loop to watch, with ``Bell/interest``. Closed with the mailbox, not with the loop: a responder may still
  /// write it.
  var descriptor: Int32 { bell.descriptor }

  /// - Throws: if the kernel provides no eventfd.
  init() throws(HTTPServerError) {
    guard let bell = Bell() else { throw .system(call: "eventfd", address: "the event loop", errno: errno) }
    self.bell = bell
  }

  /// Makes the current thread the loop's.
  func begin() { owner.store(UInt(pthread_self()), ordering: .relaxed) }

  /// Whether the current thread is the loop's.
  var isOwn: Bool { owner.load(ordering: .relaxed) == UInt(pthread_self()) }

  /// Adds a message; after the loop's end it is refused.
  func post(_ message: Message) {
    switch mailbox.post(message) {
    case .mustWake: bell.ring()
    case .queued: break
    case .closed: Self.refuse(message)
    }
  }

  func take(_ batch: inout [Message]) { mailbox.take(&batch) }

  /// Refuses all present and later messages. The loop's thread continues with other work, so its later messages are
  /// refused like those of other threads.
  func shut() {
    owner.store(0, ordering: .relaxed)
    for message in mailbox.close() { Self.refuse(message) }
  }

  /// Notifies senders who would wait forever that the request of their message is no longer current.
  static func refuse(_ message: Message) {
    switch message {
    case .begin(_, _, let backlog): backlog.close()
    case .observe(_, let body): body()
    case .answer, .run, .abort, .flush, .resume, .accept, .drain, .stop: break
    }
  }
}

import CLinux
import Glibc
import Synchronization

/// How the rest of the program reaches a loop: messages under a lock, taken in batches, and an eventfd that is written
/// only if the loop has not been woken yet.
final class Mailbox: Sendable {
  enum Message: Sendable {
    case answer(RequestToken, HTTPResponse)
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

  private struct State {
    var messages: [Message] = []
    var isSignalled = false
    var isClosed = false
  }

  private let state = Mutex(State())
  /// Readable when there are messages. Closed with the mailbox, not with the loop: a responder may still write it.
  let descriptor: Int32

  /// - Throws: if the kernel provides no eventfd.
  init() throws(HTTPServerError) {
    descriptor = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
    guard descriptor >= 0 else { throw .system(call: "eventfd", address: "the event loop", errno: errno) }
  }

  deinit { close(descriptor) }

  /// Adds a message; after the loop's end it is refused.
  func post(_ message: Message) {
    let mustWake: Bool? = state.withLock { state in
      guard !state.isClosed else { return nil }
      state.messages.append(message)
      defer { state.isSignalled = true }
      return !state.isSignalled
    }
    guard let mustWake else { return Self.refuse(message) }
    if mustWake { wake() }
  }

  /// Adds many with one lock and one wake-up.
  func post(contentsOf messages: [Message]) {
    let mustWake = state.withLock { state in
      guard !state.isClosed, !messages.isEmpty else { return false }
      state.messages.append(contentsOf: messages)
      defer { state.isSignalled = true }
      return !state.isSignalled
    }
    if mustWake { wake() }
  }

  /// Swaps the messages with `emptied`, whose memory is reused.
  func take(_ emptied: inout [Message]) {
    state.withLock { state in
      swap(&state.messages, &emptied)
      state.isSignalled = false
    }
  }

  /// Refuses all present and later messages.
  func shut() {
    let messages = state.withLock { state in
      defer { state.messages = [] }
      state.isClosed = true
      return state.messages
    }
    for message in messages { Self.refuse(message) }
  }

  /// Notifies senders who would wait forever that the request of their message is no longer current.
  static func refuse(_ message: Message) {
    switch message {
    case .begin(_, _, let backlog): backlog.close()
    case .observe(_, let body): body()
    case .answer, .abort, .flush, .resume, .accept, .drain, .stop: break
    }
  }

  private func wake() {
    var one: UInt64 = 1
    // It can fail only by overflow, and then the loop is awake anyway.
    _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
  }
}

package import Synchronization

/// Passes messages from many threads to one receiver, which takes them in batches.
///
/// A sender that finds the receiver asleep must wake it. All messages that follow, until the receiver takes them, are
/// one batch and need no other wake-up:
///
/// ```swift
/// if mailbox.post(message) == .mustWake { queue.async { serve() } }
/// ```
///
/// A mailbox has no maximum number of messages, because its senders cannot do without them. Each sender has its own
/// bound, such as the number of connections or of calls in memory. The memory that a mailbox keeps is bounded:
/// see ``keptCapacity``.
package final class Mailbox<Message: Sendable>: Sendable {
  /// What the sender has to do after it has posted messages.
  package enum Posting: Sendable {
    /// Wake the receiver.
    case mustWake
    /// Nothing: the receiver is awake, or somebody wakes it already.
    case queued
    /// Do without: the receiver has ended, and takes no more messages.
    case closed
  }

  @usableFromInline
  package struct Content: Sendable {
    @usableFromInline var messages: [Message] = []
    /// Whether the receiver takes the messages without another wake-up.
    @usableFromInline var isAwake = false
    @usableFromInline var isClosed = false
    /// Whether the receiver looks into the mailbox once more, even if there is nothing.
    @usableFromInline var isRoused = false

    @inlinable init() {}

    /// Notes that there are messages.
    @inlinable
    mutating func arrived() -> Posting {
      if isAwake || messages.isEmpty { return .queued }
      isAwake = true
      return .mustWake
    }
  }

  @usableFromInline let content = Mutex(Content())

  /// The memory of a batch is used again if it has room for at most this many messages. A larger batch is an exception,
  /// and its memory is freed.
  @inlinable package static var keptCapacity: Int { 1024 }

  @inlinable package init() {}

  /// Adds a message.
  @inlinable
  package func post(_ message: Message) -> Posting {
    content.withLock { content in
      guard !content.isClosed else { return .closed }
      content.messages.append(message)
      return content.arrived()
    }
  }

  /// Adds messages with one lock. If the mailbox is empty, it takes the array itself, so that no message is copied.
  @inlinable
  package func post(contentsOf messages: [Message]) -> Posting {
    content.withLock { content in
      guard !content.isClosed else { return .closed }
      if content.messages.isEmpty { content.messages = messages } else { content.messages += messages }
      return content.arrived()
    }
  }

  /// Has the receiver take a batch, even if it is an empty one.
  ///
  /// - Returns: Whether the caller must wake the receiver, which otherwise looks again before it sleeps, if it stays awake
  ///   with each batch.
  @inlinable
  package func rouse() -> Posting {
    content.withLock { content in
      if content.isClosed { return .closed }
      if content.isAwake {
        content.isRoused = true
        return .queued
      }
      content.isAwake = true
      return .mustWake
    }
  }

  /// Takes all messages, in the order of their arrival.
  ///
  /// - Parameters:
  ///   - batch: Gets the messages in place of its own. Its memory is used for messages that arrive later.
  ///   - staysAwake: Whether the receiver looks into the mailbox again before it sleeps, with ``maySleep()``. Senders
  ///     need not wake it until then.
  @inlinable
  package func take(_ batch: inout [Message], staysAwake: Bool = false) {
    batch.removeAll(keepingCapacity: batch.capacity <= Self.keptCapacity)
    content.withLock { content in
      swap(&content.messages, &batch)
      content.isAwake = staysAwake
      content.isRoused = false
    }
  }

  /// Whether no message waits, and nobody has roused the receiver. If so, the next sender must wake the receiver, which
  /// now sleeps.
  @inlinable
  package func maySleep() -> Bool {
    content.withLock { content in
      content.isAwake = !content.messages.isEmpty || content.isRoused
      return !content.isAwake
    }
  }

  /// Accepts no more messages.
  ///
  /// - Returns: The messages that were not taken.
  @inlinable
  package func close() -> [Message] {
    content.withLock { content in
      content.isClosed = true
      defer { content.messages = [] }
      return content.messages
    }
  }
}

public import Foundation

/// The content of an answer, chunk by chunk as it arrives. For one reader.
///
/// A reader that stops reading, or releases it, ends the exchange.
public struct HTTPByteStream: AsyncSequence, Sendable {
  /// A piece of the content, as it arrived.
  public typealias Element = Data
  /// Why it was interrupted.
  public typealias Failure = HTTPCallError

  private let chunks: AsyncThrowingStream<Data, any Error>
  private let unread: UnreadBytes

  init(_ chunks: AsyncThrowingStream<Data, any Error>, _ unread: UnreadBytes) {
    self.chunks = chunks
    self.unread = unread
  }

  /// The iterator.
  public func makeAsyncIterator() -> Iterator { Iterator(base: chunks.makeAsyncIterator(), unread: unread) }

  /// Reads a stream.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var base: AsyncThrowingStream<Data, any Error>.Iterator
    fileprivate let unread: UnreadBytes

    /// The next chunk; nil at the end of the content.
    ///
    /// - Throws: Why it was interrupted: ``HTTPCallError/cancelled`` if the task is cancelled.
    public mutating func next() async throws(HTTPCallError) -> Data? {
      let chunk: Data?
      do {
        chunk = try await base.next()
      } catch {
        throw HTTPCallError(error)
      }
      if let chunk { unread.remove(chunk.count) } else if Task.isCancelled { throw .cancelled }
      return chunk
    }
  }
}

/// More bytes of a stream were unread than ``URLRetryOptions/maxUnreadBytes`` allows.
public struct StreamOverflow: Error, Hashable, CustomStringConvertible {
  /// The limit.
  public var limit: Int
  /// For people.
  public var description: String {
    "more than \(limit) bytes of the stream lay unread: read faster, or raise the limit"
  }

  /// Creates the error.
  public init(limit: Int) { self.limit = limit }
}

/// Counts the bytes between the network and the reader.
final class UnreadBytes: Sendable {
  let limit: Int
  private let count = Guarded(0)

  init(limit: Int) { self.limit = limit }

  /// Adds arrived bytes; false if there are too many.
  func add(_ more: Int) -> Bool {
    count.withLock { count in
      count += more
      return count <= limit
    }
  }

  func remove(_ fewer: Int) { count.withLock { $0 -= fewer } }
}

internal import RedialModel
internal import RedialStore
internal import RedialTransport

/// Reads bodies that are only in the store.
struct BodyReading: Sendable {
  private let bodies: (any BodyReader)?

  /// - Parameter bodies: Nil if all bodies are in memory.
  init(_ bodies: (any BodyReader)?) {
    self.bodies = bodies
  }

  /// The first bytes of a call's body. Blocks while they are read.
  func bytes(of call: CallRecord, atMost count: Int) throws(StoredBodyError) -> [UInt8] {
    guard case .stored(let size) = call.content, let bodies else { return Array(call.body.prefix(count)) }
    let body = bodies.body(of: call.id, size: size)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(min(size, count))
    while bytes.count < count {
      let piece = try body.next(atMost: min(Self.piece, count - bytes.count))
      if piece.isEmpty { break }
      bytes += piece
    }
    return bytes
  }

  /// The maximum number of bytes that are read at a time.
  private static let piece = 256 * 1024

  /// The body of a call; nil when it is in memory.
  func source(of call: CallRecord) -> (any BodySource)? {
    guard case .stored(let size) = call.content else { return nil }
    guard let bodies else { preconditionFailure("a body is left to a store that nobody reads it from") }
    return StoredBodySource(bodies.body(of: call.id, size: size))
  }
}

/// A stored body as a source for the transport.
///
/// A class, because the transport distinguishes sources by identity; the mutable state is in the stored body.
private final class StoredBodySource: BodySource {
  private let body: StoredBody

  init(_ body: StoredBody) {
    self.body = body
  }

  var size: Int { body.size }

  func next(atMost count: Int) throws(BodyFault) -> [UInt8] {
    do throws(StoredBodyError) {
      return try body.next(atMost: count)
    } catch {
      throw Self.fault(error)
    }
  }

  func rewind() { body.rewind() }

  private static func fault(_ error: StoredBodyError) -> BodyFault {
    switch error {
    case .gone: BodyFault(code: "bodyGone", message: "The call's body is not in the store any more")
    case .damaged(let clause):
      BodyFault(code: "bodyDamaged", message: "The call's body cannot be read from the store: \(clause)")
    // The message names files of this machine, which clients should not see; the store's own watch reports it to
    // operators.
    case .unreadable: BodyFault(code: "bodyUnreadable", message: "The call's body could not be read from the store")
    }
  }
}

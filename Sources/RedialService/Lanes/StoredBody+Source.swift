internal import RedialModel
internal import RedialStore
internal import RedialTransport

/// Where the bodies are read that only the store has.
struct BodyReading: Sendable {
  private let bodies: StoredBodies?

  /// - Parameter bodies: Nil where all bodies are held.
  init(_ bodies: StoredBodies?) {
    self.bodies = bodies
  }

  /// The body of a call; nil when it is in memory.
  func source(of call: CallRecord) -> (any BodySource)? {
    guard case .stored(let size) = call.content else { return nil }
    guard let bodies else { preconditionFailure("a body is left to a store that nobody reads it from") }
    return StoredBodySource(bodies.body(of: call.id, size: size))
  }
}

/// A stored body in the transport's words.
///
/// A class, for the transport tells sources apart by their identity; what changes is in the stored body.
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
    // The message names files of this machine, which is no client's business; the store's own watch tells people.
    case .unreadable: BodyFault(code: "bodyUnreadable", message: "The call's body could not be read from the store")
    }
  }
}

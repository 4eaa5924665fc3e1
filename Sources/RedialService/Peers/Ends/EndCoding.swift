internal import RedialModel

/// What instances tell each other of the ends of calls.
enum EndMessage: Sendable {
  /// Whoever sends it wants to know when a call ends.
  case watch(CallID)
  case ended(CallID, for: Int64)

  var call: CallID {
    switch self {
    case .watch(let call), .ended(let call, _): call
    }
  }
}

/// The bodies of the requests and answers with which they do so.
enum EndCoding {
  /// The first number of a request and of an answer.
  static let version: Int64 = 1

  /// A request.
  ///
  /// - Parameter session: That of the instance that sends it.
  static func request(_ messages: [EndMessage], from session: Int64) -> [UInt8] {
    var writer = ForwardedWriter(capacity: 32 + 16 * messages.count)
    writer.add(version)
    writer.add(session)
    for message in messages {
      switch message {
      case .watch(let call):
        writer.add(0)
        writer.add(call.rawValue)
      case .ended(let call, _):
        writer.add(1)
        writer.add(call.rawValue)
      }
    }
    return writer.bytes
  }

  /// The content of a request; nil if it is not one.
  static func content(
    _ body: UnsafeBufferPointer<UInt8>, atMost most: Int
  ) -> (session: Int64, watched: [CallID], ended: [CallID])? {
    var reader = ForwardedReader(body)
    guard reader.number() == version, let session = reader.number() else { return nil }
    var (watched, ended): ([CallID], [CallID]) = ([], [])
    while !reader.isAtEnd {
      guard let kind = reader.number(), let id = reader.number(), watched.count + ended.count < most else { return nil }
      switch kind {
      case 0: watched.append(CallID(rawValue: id))
      case 1: ended.append(CallID(rawValue: id))
      default: return nil
      }
    }
    return (session, watched, ended)
  }

  /// An answer: whether the watched calls are remembered, and which of them have ended already.
  static func answer(isWatching: Bool, ended: [CallID]) -> [UInt8] {
    var writer = ForwardedWriter(capacity: 16 + 8 * ended.count)
    writer.add(version)
    writer.add(isWatching ? 1 : 0)
    for call in ended { writer.add(call.rawValue) }
    return writer.bytes
  }

  /// The content of an answer; nil if it is not one.
  static func answer(_ body: [UInt8]) -> (isWatching: Bool, ended: [CallID])? {
    body.withUnsafeBufferPointer { bytes in
      var reader = ForwardedReader(bytes)
      guard reader.number() == version, let isWatching = reader.number() else { return nil }
      var ended: [CallID] = []
      while !reader.isAtEnd {
        guard let id = reader.number() else { return nil }
        ended.append(CallID(rawValue: id))
      }
      return (isWatching == 1, ended)
    }
  }
}

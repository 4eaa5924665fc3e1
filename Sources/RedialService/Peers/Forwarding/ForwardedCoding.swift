internal import RedialCore
internal import RedialEngine
internal import RedialJSON
internal import RedialModel

/// The bodies of the requests and answers with which submissions are forwarded. Descriptors are in the form in which the store
/// has them, and bodies as they are. All instances on one store speak the same version, or refuse the request.
enum ForwardedCoding {
  /// The first number of a request and of an answer.
  static let version: Int64 = 4

  // MARK: Requests

  static func request(_ calls: [ForwardedCall]) -> [UInt8] {
    var writer = ForwardedWriter(capacity: calls.reduce(64) { $0 + $1.size })
    writer.add(version)
    writer.add(Int64(calls.count))
    for call in calls {
      writer.add(call.identity.id.rawValue)
      writer.add(call.identity.createdAt.microseconds)
      switch call.descriptor.start {
      case .after(let delay):
        writer.add(0)
        writer.add(delay.wholeMicroseconds)
      case .at(let time):
        writer.add(1)
        writer.add(time.microseconds)
      }
      writer.add(call.descriptor.key == nil ? 0 : 1)
      if let key = call.descriptor.key {
        writer.add(key.name.text)
        // Both are digests of one length.
        writer.add(key.fingerprint + (key.former ?? []))
      }
      writer.add(call.descriptor.apiKey ?? "")
      writer.add(call.descriptor.spec.canonicalJSON)
      writer.add(call.descriptor.body)
    }
    return writer.bytes
  }

  /// The submissions in a request; nil if it is not one.
  static func descriptors(_ body: UnsafeBufferPointer<UInt8>, atMost most: Int) -> [CallDescriptor]? {
    var reader = ForwardedReader(body)
    guard reader.number() == version, let count = reader.number(), (1...Int64(most)).contains(count) else { return nil }
    var all: [CallDescriptor] = []
    all.reserveCapacity(Int(count))
    for _ in 0..<count {
      guard let one = descriptor(&reader) else { return nil }
      all.append(one)
    }
    return reader.isAtEnd ? all : nil
  }

  private static func descriptor(_ reader: inout ForwardedReader) -> CallDescriptor? {
    guard let id = reader.number(), let createdAt = reader.number(), let kind = reader.number(),
      let start = reader.number(), let hasKey = reader.number()
    else { return nil }
    var key: IdempotencyKey?
    if hasKey == 1 {
      guard let name = reader.text(), let fingerprint = reader.array() else { return nil }
      let former = fingerprint.dropFirst(SHA256Digest.length)
      key = IdempotencyKey(
        IdempotencyName(qualified: name), fingerprint: Array(fingerprint.prefix(SHA256Digest.length)),
        former: former.isEmpty ? nil : Array(former))
    }
    guard let apiKey = reader.text(), let spec = reader.slice(), let body = reader.array(),
      let read = try? CallSpec.read(canonicalJSON: spec)
    else { return nil }
    var descriptor = CallDescriptor(
      forwarded: read, body: body,
      start: kind == 0 ? .after(.microseconds(start)) : .at(Timestamp(microseconds: start)), key: key,
      as: GivenIdentity(id: CallID(rawValue: id), createdAt: Timestamp(microseconds: createdAt), isOfPeer: true))
    if !apiKey.isEmpty { descriptor.apiKey = apiKey }
    return descriptor
  }

  // MARK: Answers

  /// The kinds of answers, by their numbers.
  private enum Kind: Int64 {
    case accepted
    case replayed
    case refused
    case passedBack
    case unknown
  }

  /// One answer, to be put together with the others by ``answer(_:)``.
  static func item(_ reply: ForwardedReply) -> [UInt8] {
    var writer = ForwardedWriter(capacity: 64)
    switch reply {
    case .accepted(let progress, let privacy):
      writer.add(Kind.accepted.rawValue)
      writer.add(Int64(progress.state.rawValue))
      writer.add(Int64(progress.waiting?.rawValue ?? 0))
      writer.add(progress.due.microseconds)
      writer.add(Int64(progress.attempts))
      writer.add(progress.roundStartedAt.microseconds)
      writer.add(privacy.isSensitive ? 1 : 0)
      writer.add(Int64(privacy.redact.count))
      for pointer in privacy.redact { writer.add(pointer.text) }
    case .replayed(let id):
      writer.add(Kind.replayed.rawValue)
      writer.add(id.rawValue)
    case .refused(let problem):
      writer.add(Kind.refused.rawValue)
      writer.add(Int64(problem.status))
      writer.add(Int64(problem.retryAfter ?? -1))
      writer.add(problem.code.rawValue)
      writer.add(problem.detail)
      writer.add(Int64(problem.errors.count))
      for fault in problem.errors {
        writer.add(fault.place.kind.rawValue)
        writer.add(fault.place.name)
        writer.add(fault.detail)
      }
    case .passedBack: writer.add(Kind.passedBack.rawValue)
    case .unknown: writer.add(Kind.unknown.rawValue)
    }
    return writer.bytes
  }

  /// The answer to a request, of the answers to its submissions in their order.
  static func answer(_ items: [[UInt8]]) -> [UInt8] {
    var writer = ForwardedWriter(capacity: items.reduce(16) { $0 + $1.count })
    writer.add(version)
    writer.add(Int64(items.count))
    for item in items { writer.add(raw: item) }
    return writer.bytes
  }

  /// The answers to so many submissions; nil if that is not what the bytes are.
  static func replies(_ body: [UInt8], count: Int) -> [ForwardedReply]? {
    body.withUnsafeBufferPointer { bytes in
      var reader = ForwardedReader(bytes)
      guard reader.number() == version, reader.number() == Int64(count) else { return nil }
      var all: [ForwardedReply] = []
      for _ in 0..<count {
        guard let one = reply(&reader) else { return nil }
        all.append(one)
      }
      return reader.isAtEnd ? all : nil
    }
  }

  private static func reply(_ reader: inout ForwardedReader) -> ForwardedReply? {
    guard let kind = reader.number().flatMap(Kind.init(rawValue:)) else { return nil }
    switch kind {
    case .accepted:
      guard let progress = progress(&reader), let privacy = privacy(&reader) else { return nil }
      return .accepted(progress, privacy)
    case .replayed: return reader.number().map { .replayed(CallID(rawValue: $0)) }
    case .refused: return problem(&reader).map { .refused($0) }
    case .passedBack: return .passedBack
    case .unknown: return .unknown
    }
  }

  private static func privacy(_ reader: inout ForwardedReader) -> ForwardedReply.Privacy? {
    guard let isSensitive = reader.number(), let count = reader.number(), count >= 0 else { return nil }
    var privacy = ForwardedReply.Privacy(isSensitive: isSensitive != 0)
    for _ in 0..<count {
      guard let pointer = reader.text().flatMap({ JSONPointer($0) }) else { return nil }
      privacy.redact.append(pointer)
    }
    return privacy
  }

  private static func progress(_ reader: inout ForwardedReader) -> CallProgress? {
    guard let state = reader.number().flatMap({ UInt8(exactly: $0) }).flatMap(StoredState.init(rawValue:)),
      let waiting = reader.number().flatMap({ UInt8(exactly: $0) }), let due = reader.number(),
      let attempts = reader.number(), let start = reader.number()
    else { return nil }
    return CallProgress(
      state: state, due: Timestamp(microseconds: due), waiting: WaitReason(rawValue: waiting), attempts: Int(attempts),
      roundStartedAt: Timestamp(microseconds: start))
  }

  private static func problem(_ reader: inout ForwardedReader) -> Problem? {
    guard let status = reader.number().flatMap({ Int(exactly: $0) }), let retry = reader.number(),
      let code = reader.text().flatMap(ProblemCode.init(rawValue:)), code.declaration.statuses.contains(status),
      let detail = reader.text(), let count = reader.number(), count >= 0
    else { return nil }
    var problem = Problem(code, status: status, detail: detail, retryAfter: retry < 0 ? nil : Int(retry))
    for _ in 0..<count {
      guard let kind = reader.text().flatMap(Problem.Place.Kind.init(rawValue:)), let name = reader.text(),
        let what = reader.text()
      else { return nil }
      problem.errors.append(Problem.Fault(Problem.Place(kind, name), detail: what))
    }
    return problem
  }
}

import RedialEngine
import RedialJSON
import Testing

@testable import RedialCore
@testable import RedialModel
@testable import RedialService

@Suite("The bodies in which submissions are forwarded")
struct ForwardedCodingTests {
  private func call(_ json: String, body: [UInt8], key: IdempotencyKey? = nil) throws -> ForwardedCall {
    var descriptor = try Array(json.utf8).withUnsafeBufferPointer { try CallDescriptor.read($0) }
    descriptor.body = body
    descriptor.key = key
    descriptor.apiKey = key.map { _ in "key_7" }
    let identity = GivenIdentity(
      id: CallID(rawValue: 1 << 60), createdAt: Timestamp(microseconds: 1_796_083_200_000_001))
    descriptor.identity = identity
    return ForwardedCall(descriptor: descriptor, reply: ReplyToken(rawValue: 1), identity: identity)
  }

  private func calls() throws -> [ForwardedCall] {
    [
      try call(#"{"url": "http://a.example/x", "headers": {"a": "b"}, "labels": {"k": "v"}}"#, body: [0, 255, 10, 13]),
      try call(
        #"{"url": "http://b.example", "delay": "1h", "policy": {"maxAttempts": 3}}"#, body: [],
        key: IdempotencyKey(IdempotencyName("k", in: Namespace("n") ?? .default), fingerprint: [1, 2])),
      try call(
        #"{"url": "http://b.example"}"#, body: [],
        key: IdempotencyKey(
          IdempotencyName("k", in: .default), fingerprint: Array(repeating: 1, count: 32),
          former: Array(repeating: 2, count: 32))),
      try call(#"{"url": "http://c.example", "startAt": "2027-01-01T00:00:00Z"}"#, body: [7]),
    ]
  }

  @Test("an owner reads what was sent")
  func requests() throws {
    let calls = try calls()
    let bytes = ForwardedCoding.request(calls)
    let read = try #require(bytes.withUnsafeBufferPointer { ForwardedCoding.descriptors($0, atMost: 4) })
    #expect(read.count == 4)
    for (call, one) in zip(calls, read) {
      #expect(one.spec.canonicalJSON == call.descriptor.spec.canonicalJSON)
      #expect(one.body == call.descriptor.body && one.start == call.descriptor.start)
      #expect(one.key == call.descriptor.key && one.apiKey == call.descriptor.apiKey)
      #expect(one.identity == GivenIdentity(id: call.identity.id, createdAt: call.identity.createdAt, isOfPeer: true))
    }
    #expect(bytes.withUnsafeBufferPointer { ForwardedCoding.descriptors($0, atMost: 3) } == nil, "too many")
  }

  @Test("a request that is cut off, longer, or of another version is refused as a whole")
  func damagedRequests() throws {
    let bytes = ForwardedCoding.request(try calls())
    for count in 0..<bytes.count {
      #expect(bytes.prefix(count).withUnsafeBufferPointer { ForwardedCoding.descriptors($0, atMost: 9) } == nil)
    }
    #expect((bytes + [0]).withUnsafeBufferPointer { ForwardedCoding.descriptors($0, atMost: 9) } == nil)
    var other = bytes
    other[0] = 1
    #expect(other.withUnsafeBufferPointer { ForwardedCoding.descriptors($0, atMost: 9) } == nil)
    // Whatever a byte is, reading ends within the bytes.
    for place in bytes.indices {
      var other = bytes
      other[place] ^= 0x80
      _ = other.withUnsafeBufferPointer { ForwardedCoding.descriptors($0, atMost: 9) }
    }
  }

  @Test("answers arrive as the owner gave them")
  func answers() throws {
    let progress = CallProgress(
      state: .queued, due: Timestamp(microseconds: 5), waiting: .breaker, attempts: 1,
      roundStartedAt: Timestamp(microseconds: 4))
    let problem = Problem(
      .invalidBatch, status: 413, detail: "ü",
      errors: [.init(pointer: "/a", detail: "b"), .init(parameter: "c", detail: "d"), .init(header: "E", detail: "f")],
      retryAfter: 3)
    let privacy = ForwardedReply.Privacy(isSensitive: true, redact: [try #require(JSONPointer("/card/*"))])
    let items: [ForwardedReply] = [
      .accepted(progress, privacy), .replayed(CallID(rawValue: 9)), .refused(problem), .passedBack, .unknown,
    ]
    let bytes = ForwardedCoding.answer(items.map(ForwardedCoding.item))
    let read = try #require(ForwardedCoding.replies(bytes, count: 5))
    guard case .accepted(progress, privacy) = read[0], case .replayed(CallID(rawValue: 9)) = read[1],
      case .refused(problem) = read[2], case .passedBack = read[3], case .unknown = read[4]
    else {
      Issue.record("\(read)")
      return
    }
    #expect(ForwardedCoding.replies(bytes, count: 4) == nil)
    for count in 0..<bytes.count { #expect(ForwardedCoding.replies(Array(bytes.prefix(count)), count: 5) == nil) }
  }

  @Test("a refusal that is about the owner alone passes the call back to its sender, and others are final")
  func refusals() {
    let target = TargetKey("http://a.example")
    let passing: [Refusal] = [
      .draining, .forwardedTooLate, .leaseLost, .ownedElsewhere(target), .noRoom, .storeFull, .storeFailed,
      .storeMisplaced, .storeUnreachable, .keyMissing, .keyNotMade(.default),
    ]
    for refusal in passing {
      guard case .passedBack = ForwardedReply(.refused(refusal)) else {
        Issue.record("\(refusal)")
        continue
      }
    }
    guard case .unknown = ForwardedReply(.refused(.outcomeUnknown)),
      case .refused = ForwardedReply(.refused(.backlogFull(1)))
    else {
      Issue.record("a refusal was taken for another")
      return
    }
  }
}

internal import Glibc
internal import HTTPServer
internal import RedialCore
internal import RedialModel
internal import RedialStore
internal import RedialTransport
internal import Synchronization

/// Sends requests to the other instances on the same store, a few at a time to each: one that stands still delays only what
/// is for it.
final class PeerLink: Sendable {
  /// The instances.
  let table = PeerTable()
  let trust: PeerTrust
  private let clock: Clock
  /// The lanes to each instance, by session; those for nobody in particular have the number 0.
  private let lanes = Mutex<[Int64: QueryLanes]>([:])
  /// The lanes of requests that go to all instances.
  private let gatherers = QueryLanes(count: mostGathered)

  /// How many requests are sent to one instance at a time; others wait.
  private static let mostAtATime = 8
  /// How many requests are sent to all instances at a time; others wait.
  private static let mostGathered = 4
  /// Maximum duration of a request.
  private static let timeout = Duration.seconds(10)
  /// How long an owner is looked for: while a shard changes hands, nobody has it.
  private static let patience = Duration.seconds(2)
  /// The time between two looks.
  private static let pause = Duration.milliseconds(50)
  /// Maximum size of an answer's body, in bytes.
  private static let largestAnswer = 16 << 20

  init(trust: PeerTrust, clock: Clock) {
    self.trust = trust
    self.clock = clock
  }

  /// The lanes to an instance; nil for one that nobody knows now.
  private func lanes(to peer: Peer?) -> QueryLanes {
    let known = Set(table.all.map(\.session.id))
    return lanes.withLock { lanes in
      let session = peer?.session.id ?? 0
      if let existing = lanes[session] { return existing }
      // Requests that are in lanes without an instance keep them until they are answered.
      lanes = lanes.filter { $0.key == 0 || known.contains($0.key) }
      let new = QueryLanes(count: Self.mostAtATime)
      lanes[session] = new
      return new
    }
  }

  /// Has the owner of a shard serve a request, which may be this instance by now.
  ///
  /// - Parameter finish: Called once, on another thread or at once.
  func forward(
    _ request: ForwardableRequest, toOwnerOf shard: Int, finish: @escaping @Sendable (Answer) -> Void
  ) {
    forward(request, toOwnerOf: shard, until: nil, finish: finish)
  }

  /// - Parameter end: Until when an owner is looked for; nil for as long as is usual from the first look on.
  private func forward(
    _ request: ForwardableRequest, toOwnerOf shard: Int, until end: ContinuousClock.Instant?,
    finish: @escaping @Sendable (Answer) -> Void
  ) {
    let owner = table.owner(ofShard: shard)
    let isTaken = lanes(to: owner).run(of: request.caller.admission) { [self] in
      let end = end ?? ContinuousClock.now + Self.patience
      switch ask(owner, request, shard: shard, until: end) {
      // It is known by now, or is another one: what is for it must not wait behind what is for others.
      case .notServed where ContinuousClock.now < end: forward(request, toOwnerOf: shard, until: end, finish: finish)
      case let answer: finish(answer)
      }
    }
    if !isTaken { finish(.notServed) }
  }

  /// Asks the owner of a shard, and asks again as long as nobody else is the owner: it may not have begun. A request that
  /// may have been served is not sent again.
  private func ask(_ owner: Peer?, _ request: ForwardableRequest, shard: Int, until end: ContinuousClock.Instant)
    -> Answer
  {
    while table.owner(ofShard: shard)?.session == owner?.session {
      let answer = owner.map { self.answer(to: request, from: $0) } ?? .notServed
      guard case .notServed = answer, ContinuousClock.now < end else { return answer }
      usleep(UInt32(Self.pause.wholeMicroseconds))
    }
    return .notServed
  }

  /// Asks all instances, this one too.
  ///
  /// - Parameter finish: Called once, on another thread or at once, with an answer of each; nil if one has not answered.
  func gather(_ request: ForwardableRequest, finish: @escaping @Sendable ([HTTPResponse]?) -> Void) {
    let isTaken = gatherers.run(of: request.caller.admission) { [self] in
      var answers: [HTTPResponse] = []
      for peer in table.all {
        guard case .served(let answer) = answer(to: request, from: peer) else { return finish(nil) }
        answers.append(answer)
      }
      finish(answers)
    }
    if !isTaken { finish(nil) }
  }

  /// How an instance has answered.
  enum Answer: Sendable {
    /// It has served the request.
    case served(HTTPResponse)
    /// It was not reached, or it does not serve the request: it is not the owner.
    case notServed
    /// Nobody knows.
    case maybe
  }

  /// Sends a request to an instance. Blocks until there is an answer.
  func answer(to request: ForwardableRequest, from peer: Peer, within timeout: Duration = timeout) -> Answer {
    guard let address = peer.address else { return .notServed }
    let fields = trust.fields(request.method, request.target, request.body, for: request.caller, at: clock.now)
    let result = BlockingHTTPClient.perform(
      TransportRequest(
        id: 0, url: address + request.target, method: request.method.text, headers: request.fields + fields,
        body: request.body, timeout: timeout, captureLimit: Self.largestAnswer))
    guard let status = result.status, result.failure == nil, let response = result.response, !response.truncated else {
      return result.outcome == .notSent ? .notServed : .maybe
    }
    if response.head.first(Self.notOwnerField) != nil { return .notServed }
    return .served(HTTPResponse(status: status, headers: Self.fields(response.head), body: response.body))
  }

  /// The field of an answer with which an instance says that it is not the owner, and has done nothing.
  static let notOwnerField: StaticString = "redial-not-owner"

  /// Fields of an answer that are about the connection between the instances.
  private static let omitted = ConnectionFields.names.union(["date", "server"])

  private static func fields(_ head: HeaderBlock) -> [HTTPHeader] {
    var fields: [HTTPHeader] = []
    head.forEach { name, value in
      let name = String(decoding: name, as: UTF8.self)
      guard !omitted.contains(name.lowercased()) else { return }
      fields.append(HTTPHeader(name, String(decoding: value, as: UTF8.self)))
    }
    return fields
  }
}

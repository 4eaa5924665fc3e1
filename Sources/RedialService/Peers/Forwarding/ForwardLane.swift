internal import HTTPServer
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore
internal import RedialTransport
internal import Synchronization

/// Sends submissions to the owners of their targets, on connections that are kept alive; ``SubmissionBatches`` decides which
/// when. Batches are encoded, signed and read on the thread of a transport.
///
/// `@unchecked Sendable`: `init` sets the transport once, before anything else can see the object; everything else in it
/// is constant or locked.
final class ForwardLane: @unchecked Sendable {
  /// What became of submissions.
  struct Ended: Sendable {
    /// Those that their owners have answered for good.
    var answered: [(call: ForwardedCall, reply: SubmissionReply)] = []
    /// Those to store here, and whether their owners may have stored them.
    var stored: [(call: ForwardedCall, isInDoubt: Bool)] = []
  }

  /// The path to which batches are sent.
  static let path = "/v1/calls/forwarded"
  /// Maximum time until a connection is made. An instance that is there accepts at once.
  private static let connectTimeout = Duration.milliseconds(250)
  /// Maximum size of an answer, in bytes.
  private static let largestAnswer = 1 << 20

  private typealias Batches = SubmissionBatches<Owner, ForwardedCall>

  private struct Owner: Sendable, Hashable {
    let session: Int64
    let address: String
  }

  private let batches: Mutex<Batches>
  private let table: PeerTable
  private let trust: PeerTrust
  private let clock: Clock
  private let patience: Duration
  private let ended: @Sendable (Ended) -> Void
  private var transport: Transport?

  /// - Parameters:
  ///   - patience: Maximum time until an owner has answered a batch.
  ///   - largest: The largest body of a request that instances accept, in bytes.
  ///   - ended: Called from any thread, also while submissions are forwarded.
  /// - Throws: If libcurl cannot be started.
  init(
    table: PeerTable, trust: PeerTrust, clock: Clock, patience: Duration, largest: Int,
    ended: @escaping @Sendable (Ended) -> Void
  ) throws(TransportStartError) {
    var limits = Batches.Limits()
    // The size of a submission is only estimated.
    limits.batchBytes = min(limits.batchBytes, largest / 2)
    batches = Mutex(Batches(limits))
    (self.table, self.trust, self.clock, self.patience, self.ended) = (table, trust, clock, patience, ended)
    var configuration = TransportConfiguration(userAgent: "redial")
    configuration.connectTimeout = Self.connectTimeout
    configuration.maxResponseBytes = Self.largestAnswer
    transport = try Transport(configuration: configuration) { [weak self] results in self?.take(results) }
  }

  /// Forwards submissions.
  func forward(_ calls: [ForwardedCall]) {
    var groups: [Owner: [(item: ForwardedCall, size: Int)]] = [:]
    var none: [ForwardedCall] = []
    for call in calls {
      let owner = table.owner(ofShard: ShardSet.shard(of: call.descriptor.spec.target))
      if let owner, !owner.isSelf, let address = owner.address {
        groups[Owner(session: owner.session.id, address: address), default: []].append((call, call.size))
      } else {
        none.append(call)
      }
    }
    var result = Ended(stored: none.map { ($0, false) })
    for (owner, calls) in groups { perform(batches.withLock { $0.add(calls, for: owner, at: .now) }, &result) }
    report(result)
  }

  /// Exactly these instances share the store.
  func meet(_ peers: [Peer]) {
    let owners = peers.compactMap { peer in peer.address.map { Owner(session: peer.session.id, address: $0) } }
    batches.withLock { $0.meet(Set(owners)) }
  }

  /// Aborts everything. What is on its way ends as unanswered.
  func shutdown() {
    transport?.shutdown()
  }

  private func report(_ result: Ended) {
    if !result.answered.isEmpty || !result.stored.isEmpty { ended(result) }
  }

  private func perform(_ steps: [Batches.Step], _ result: inout Ended) {
    for step in steps {
      switch step {
      case .store(let calls, let isInDoubt): result.stored += calls.map { ($0, isInDoubt) }
      case .send(let batch): send(batch)
      }
    }
  }

  // MARK: Requests

  private func send(_ batch: Batches.Batch) {
    transport?.start { [trust, clock, patience] in
      let body = ForwardedCoding.request(batch.items)
      return [
        TransportRequest(
          id: batch.number, url: batch.owner.address + Self.path, method: "POST",
          headers: trust.fields(.post, Self.path, body, for: Caller(), at: clock.now), body: body, timeout: patience,
          captureLimit: Self.largestAnswer)
      ]
    }
  }

  private func take(_ results: [Transport.Ended]) {
    var all = Ended()
    for (number, result) in results {
      let outcome = Self.outcome(of: result)
      let (calls, steps) = batches.withLock { $0.ended(number, outcome, at: .now) }
      perform(steps, &all)
      guard !calls.isEmpty else { continue }
      guard let replies = ForwardedCoding.replies(result.response?.body ?? [], count: calls.count) else {
        all.stored += calls.map { ($0, true) }
        continue
      }
      for (call, reply) in zip(calls, replies) {
        switch reply {
        case .accepted(let progress): all.answered.append((call, .accepted(call.accepted(progress))))
        case .replayed(let id): all.answered.append((call, .replayed(id)))
        case .refused(let problem): all.answered.append((call, .refused(problem)))
        case .left: all.stored.append((call, false))
        case .unknown: all.stored.append((call, true))
        }
      }
    }
    report(all)
  }

  /// What a response means. One that refuses the whole request, as an older version does, has done nothing.
  private static func outcome(of result: AttemptResult) -> Batches.Outcome {
    guard let status = result.status, result.failure == nil, let response = result.response, !response.truncated else {
      return result.outcome == .notSent ? .notServed : .unanswered
    }
    if status == 200 { return .answered }
    return (400...499).contains(status) || status == 503 ? .notServed : .unanswered
  }
}

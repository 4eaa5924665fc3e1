internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore
internal import RedialTransport

/// Sends submissions to the owners of their targets.
final class ForwardLane: Sendable {
  /// What became of submissions.
  struct Ended: Sendable {
    /// Those that their owners have answered for good.
    var answered: [(call: ForwardedCall, reply: SubmissionReply)] = []
    /// Those to store here, and whether their owners may have stored them.
    var stored: [(call: ForwardedCall, isInDoubt: Bool)] = []
  }

  /// The path to which submissions are sent.
  static let path = "/v1/calls/forwarded"

  private let lane: PeerLane<ForwardedCall>
  private let table: PeerTable

  /// - Parameters:
  ///   - patience: Maximum time until an owner has answered.
  ///   - largest: The largest body of a request that instances accept, in bytes.
  ///   - ended: Called from any thread, also while submissions are forwarded.
  /// - Throws: If libcurl cannot be started.
  init(
    _ link: PeerLink, clock: Clock, patience: Duration, largest: Int, ended: @escaping @Sendable (Ended) -> Void
  ) throws(TransportStartError) {
    table = link.table
    var form = PeerLane<ForwardedCall>.Form(path: Self.path, patience: patience, body: ForwardedCoding.request)
    // The size of a submission is only estimated.
    form.limits.batchBytes = min(form.limits.batchBytes, largest / 2)
    lane = try PeerLane(form, trust: link.trust, clock: clock) { ended(Ended($0)) }
  }

  /// Forwards submissions.
  func forward(_ calls: [ForwardedCall]) {
    lane.send(calls.map { ($0, $0.size) }) { table.owner(ofShard: ShardSet.shard(of: $0.descriptor.spec.target)) }
  }

  /// Exactly these instances share the store.
  func meet(_ peers: [Peer]) { lane.meet(peers) }

  /// Aborts everything. What is on its way ends as unanswered.
  func shutdown() { lane.shutdown() }
}

extension ForwardLane.Ended {
  fileprivate init(_ ended: PeerLane<ForwardedCall>.Ended) {
    stored = ended.returned.map { ($0.item, $0.isInDoubt) }
    for (calls, body) in ended.answered {
      guard let replies = ForwardedCoding.replies(body, count: calls.count) else {
        stored += calls.map { ($0, true) }
        continue
      }
      for (call, reply) in zip(calls, replies) {
        switch reply {
        case .accepted(let progress, let privacy):
          answered.append((call, .accepted(call.accepted(progress, hiding: privacy))))
        case .replayed(let id): answered.append((call, .replayed(id)))
        case .refused(let problem): answered.append((call, .refused(.found(problem))))
        case .passedBack: stored.append((call, false))
        case .unknown: stored.append((call, true))
        }
      }
    }
  }
}

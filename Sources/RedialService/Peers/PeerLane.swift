internal import HTTPServer
internal import RedialCore
internal import RedialModel
internal import RedialStore
internal import RedialTransport
internal import Synchronization

/// Sends items to other instances on connections that are kept alive; ``SubmissionBatches`` decides which when. Batches are
/// encoded, signed and read on the thread of a transport.
///
/// `@unchecked Sendable`: `init` sets the transport once, before anything else can see the object; everything else in it
/// is constant or locked.
final class PeerLane<Item: Sendable>: @unchecked Sendable {
  /// What became of items.
  struct Ended: Sendable {
    /// Batches that were answered with 200, and the bodies of the answers.
    var answered: [(items: [Item], body: [UInt8])] = []
    /// Those that come back without an answer, and whether the other instance may have served them all the same.
    var returned: [(item: Item, isInDoubt: Bool)] = []
  }

  /// How items are sent.
  struct Form: Sendable {
    /// The path to which batches are sent.
    var path: String
    /// Maximum time until a batch is answered.
    var patience: Duration
    /// What may be sent at a time.
    var limits = Batches.Limits()
    /// The body of a request.
    var body: @Sendable ([Item]) -> [UInt8]
  }

  typealias Batches = SubmissionBatches<Owner, Item>

  /// The instance that items are for.
  struct Owner: Sendable, Hashable {
    let session: Int64
    let address: String

    /// Nil for this instance itself, and for one that cannot be reached.
    init?(_ peer: Peer?) {
      guard let peer, !peer.isSelf, let address = peer.address else { return nil }
      (session, self.address) = (peer.session.id, address)
    }
  }

  /// Maximum time until a connection is made. An instance that is there accepts at once.
  private static var connectTimeout: Duration { .milliseconds(250) }
  /// Maximum size of an answer, in bytes.
  private static var largestAnswer: Int { 1 << 20 }

  private let batches: Mutex<Batches>
  private let form: Form
  private let trust: PeerTrust
  private let clock: Clock
  private let ended: @Sendable (Ended) -> Void
  private var transport: Transport?

  /// - Parameter ended: Called from any thread, also while items are sent.
  /// - Throws: If libcurl cannot be started.
  init(
    _ form: Form, trust: PeerTrust, clock: Clock, ended: @escaping @Sendable (Ended) -> Void
  ) throws(TransportStartError) {
    batches = Mutex(Batches(form.limits))
    (self.form, self.trust, self.clock, self.ended) = (form, trust, clock, ended)
    var configuration = TransportConfiguration(userAgent: "redial")
    configuration.connectTimeout = Self.connectTimeout
    configuration.maxResponseBytes = Self.largestAnswer
    transport = try Transport(configuration: configuration) { [weak self] results in self?.take(results) }
  }

  /// Sends items, with their sizes in bytes, each to an instance; those for nobody come back at once.
  func send(_ items: [(item: Item, size: Int)], to peer: (Item) -> Peer?) {
    var groups: [Owner: [(item: Item, size: Int)]] = [:]
    var result = Ended()
    for item in items {
      if let owner = Owner(peer(item.item)) {
        groups[owner, default: []].append(item)
      } else {
        result.returned.append((item.item, false))
      }
    }
    for (owner, items) in groups { perform(batches.withLock { $0.add(items, for: owner, at: .now) }, &result) }
    report(result)
  }

  /// Exactly these instances share the store.
  func meet(_ peers: [Peer]) {
    batches.withLock { $0.meet(Set(peers.compactMap { Owner($0) })) }
  }

  /// Aborts everything. What is on its way ends as unanswered.
  func shutdown() {
    transport?.shutdown()
  }

  private func report(_ result: Ended) {
    if !result.answered.isEmpty || !result.returned.isEmpty { ended(result) }
  }

  private func perform(_ steps: [Batches.Step], _ result: inout Ended) {
    for step in steps {
      switch step {
      case .store(let items, let isInDoubt): result.returned += items.map { ($0, isInDoubt) }
      case .send(let batch): send(batch)
      }
    }
  }

  // MARK: Requests

  private func send(_ batch: Batches.Batch) {
    transport?.start { [trust, clock, form] in
      let body = form.body(batch.items)
      return [
        TransportRequest(
          id: batch.number, url: batch.owner.address + form.path, method: "POST",
          headers: trust.fields(.post, form.path, body, for: Caller(), at: clock.now), body: body,
          timeout: form.patience, captureLimit: Self.largestAnswer)
      ]
    }
  }

  private func take(_ results: [Transport.Ended]) {
    var all = Ended()
    for (number, result) in results {
      let outcome = Self.outcome(of: result)
      let (items, steps) = batches.withLock { $0.ended(number, outcome, at: .now) }
      perform(steps, &all)
      if !items.isEmpty { all.answered.append((items, result.response?.body ?? [])) }
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

internal import Dispatch
internal import HTTPServer
internal import RedialCore
internal import RedialModel
internal import RedialStore
internal import RedialText
internal import RedialTransport
internal import Synchronization

/// Receives the events of the other instances on the same store, for listeners of this one.
///
/// Each stream has a connection and a thread of its own. It sends to `report` what it receives, and waits until that
/// returns: so a stream that is too fast is slowed down at its sender.
final class EventRelay: Sendable {
  /// What listeners have to know.
  enum Report: Sendable {
    /// An event of another instance.
    case event(ServerSentEvents.Event, Namespace)
    /// The events of all instances arrive from now on.
    case whole(Namespace)
    /// Events were or may have been missed.
    case missed(Namespace)
  }

  /// The path of the stream.
  static let path = "/v1/events/own"
  /// Maximum number of namespaces that are followed; each needs a thread for each other instance.
  static let mostNamespaces = 64
  /// How long listeners wait until the events of all instances arrive.
  private static let patience = DispatchTimeInterval.seconds(2)
  /// After this time a connection is made anew.
  private static let longest = Duration.seconds(3600)

  private let table = Mutex(RelayTable())
  private let trust: PeerTrust
  private let clock: Clock
  /// A connection without a byte for so long is broken.
  private let silence: Duration
  private let report: @Sendable (Report) -> Void

  /// - Parameters:
  ///   - heartbeat: How often instances send something.
  ///   - report: Called on any thread; may block.
  init(trust: PeerTrust, clock: Clock, heartbeat: Duration, report: @escaping @Sendable (Report) -> Void) {
    (self.trust, self.clock, self.report) = (trust, clock, report)
    silence = max(.seconds(10), heartbeat * 3)
  }

  /// Begins to follow a namespace. One report says from when on the events of all instances arrive.
  func follow(_ namespace: Namespace) {
    take { $0.follow(namespace) }
    DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience) { [weak self] in
      self?.take { $0.giveUp(namespace) }
    }
  }

  /// Stops to follow a namespace.
  func unfollow(_ namespace: Namespace) { table.withLock { $0.unfollow(namespace) } }

  /// Stops to follow all.
  func unfollowAll() { table.withLock { $0.unfollowAll() } }

  /// Takes the other instances on the store.
  func meet(_ others: [Peer]) {
    // One that was killed and started again has two sessions until the lease of the first, which nobody renews, is over. Its
    // events come once.
    let byEnd = others.sorted { ($0.expiresAt ?? .distantFuture) < ($1.expiresAt ?? .distantFuture) }
    let sessions = Dictionary(byEnd.compactMap { peer in peer.address.map { ($0, peer.session.id) } }) { $1 }
    take { $0.meet(Dictionary(uniqueKeysWithValues: sessions.map { ($1, $0) })) }
  }

  private func take(_ change: (inout RelayTable) -> [RelayTable.Step]) {
    // Reports come after the lock: they may wait for a thread that needs it.
    for step in table.withLock({ change(&$0) }) {
      switch step {
      case .open(let opening): open(opening)
      case .whole(let namespace): report(.whole(namespace))
      case .missed(let namespace): report(.missed(namespace))
      }
    }
  }

  private func open(_ opening: RelayTable.Opening) {
    let pause = DispatchTimeInterval.microseconds(Int(opening.pause.wholeMicroseconds))
    // A queue of its own: the thread waits for the network.
    DispatchQueue(label: "redial.relay").asyncAfter(deadline: .now() + pause) { [weak self] in self?.receive(opening) }
  }

  /// Receives a stream until it ends.
  private func receive(_ opening: RelayTable.Opening) {
    guard isNeeded(opening) else { return }
    var parser = ServerSentEvents()
    var isEstablished = false
    var fields = trust.fields(
      .get, Self.path, [], for: Caller(namespace: opening.stream.namespace), at: clock.now)
    fields.append(HeaderField("accept", "text/event-stream"))
    if let last = opening.last { fields.append(HeaderField("last-event-id", last)) }
    _ = BlockingHTTPClient.perform(
      TransportRequest(
        id: 0, url: opening.address + Self.path, method: "GET", headers: fields, timeout: Self.longest,
        captureLimit: 1 << 16), silence: silence
    ) { [self] piece in
      if !isEstablished {
        isEstablished = true
        take { $0.established(opening) }
      }
      for event in parser.take(piece) { receive(event, opening) }
      return isNeeded(opening)
    }
    let (last, wasEstablished) = (parser.lastID, isEstablished)
    take { $0.ended(opening, after: last, wasEstablished: wasEstablished) }
  }

  private func receive(_ event: ServerSentEvents.Event, _ opening: RelayTable.Opening) {
    if event.name == EventListener.resetName {
      take { $0.missed(opening) }
    } else if isNeeded(opening) {
      report(.event(event, opening.stream.namespace))
    }
  }

  private func isNeeded(_ opening: RelayTable.Opening) -> Bool { table.withLock { $0.needs(opening) } }
}

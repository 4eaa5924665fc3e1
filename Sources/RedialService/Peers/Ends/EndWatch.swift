internal import Dispatch
internal import RedialCore
internal import RedialModel
internal import RedialStore
internal import RedialTransport
internal import Synchronization

/// Learns of the ends of calls that clients of this instance wait for and other instances run, and tells the others of
/// those that they wait for.
///
/// The owner of a call is asked to tell when it ends. The store is looked at too: often for a call of which the owner has
/// not said that it will tell, and seldom for the others, because an owner may be gone with what it had to tell.
///
/// `@unchecked Sendable`: `init` sets the lane once, before anything else can see the object; everything else in it is
/// constant or locked.
final class EndWatch: @unchecked Sendable {
  private struct Watched: Sendable {
    let target: TargetKey
    /// Whether its owner will tell.
    var isTold = false
  }

  private struct State: Sendable {
    var watched: [CallID: Watched] = [:]
    var looks = 0
    var isLooking = false
  }

  /// The path to which instances send what they tell each other.
  static let path = "/v1/calls/ends"
  /// Maximum number of calls in a request.
  static let mostInRequest = SubmissionBatches<Int, Int>.Limits().batch
  /// The time between two looks into the store.
  private static let interval = DispatchTimeInterval.milliseconds(100)
  /// One look in so many is also for calls whose owners will tell.
  private static let rest = 10
  /// Maximum number of calls in one query.
  private static let page = 1000
  /// Maximum time until another instance has answered.
  private static let patience = Duration.seconds(5)
  /// How many bytes a call has in a request.
  private static let size = 16

  private let state = Mutex(State())
  private let others = Mutex(WatchedEnds())
  /// The number of calls that others wait for. It is nearly always 0, and then a commit checks nothing else.
  private let count = Atomic<Int>(0)
  private let ends: EndTable
  private let reader: any CallReader
  private let table: PeerTable
  private let clock: Clock
  private let queue = DispatchQueue(label: "redial.endwatch", qos: .userInitiated)
  private var lane: PeerLane<EndMessage>?

  /// - Throws: If libcurl cannot be started.
  init(_ ends: EndTable, _ reader: any CallReader, _ link: PeerLink, clock: Clock) throws(TransportStartError) {
    (self.ends, self.reader, table, self.clock) = (ends, reader, link.table, clock)
    let table = link.table
    let form = PeerLane<EndMessage>.Form(path: Self.path, patience: Self.patience) { messages in
      EndCoding.request(messages, from: table.all.first(where: \.isSelf)?.session.id ?? 0)
    }
    lane = try PeerLane(form, trust: link.trust, clock: clock) { [weak self] in self?.sent($0) }
  }

  // MARK: What clients of this instance wait for

  /// Begins to learn of the end of a call. This instance knows of its own, but they may be another's before they end.
  func watch(_ call: CallID, of target: TargetKey) {
    watch([(call, target)])
  }

  /// Takes the other instances. Some calls may have other owners now, so all are asked again.
  func meet(_ peers: [Peer]) {
    lane?.meet(peers)
    let known = state.withLock { $0.watched }
    watch(known.map { ($0, $1.target) })
  }

  /// Aborts everything.
  func shutdown() { lane?.shutdown() }

  private func watch(_ calls: [(call: CallID, target: TargetKey)]) {
    let starts = state.withLock { state in
      for (call, target) in calls { state.watched[call] = Watched(target: target) }
      guard !state.isLooking, !state.watched.isEmpty else { return false }
      state.isLooking = true
      return true
    }
    if starts { lookSoon() }
    ask(calls)
  }

  /// Asks the owners of calls to tell when they end.
  private func ask(_ calls: [(call: CallID, target: TargetKey)]) {
    guard !calls.isEmpty else { return }
    let (table, own) = (table, table.own)
    let targets = Dictionary(calls.lazy.filter { !own.contains(target: $0.target) }.map { ($0.call, $0.target) }) { $1 }
    lane?.send(targets.keys.map { (.watch($0), Self.size) }) { message in
      targets[message.call].flatMap { table.owner(ofShard: ShardSet.shard(of: $0)) }
    }
  }

  private func sent(_ result: PeerLane<EndMessage>.Ended) {
    for (messages, body) in result.answered {
      guard let answer = EndCoding.answer(body) else { continue }
      ends.ended(answer.ended)
      guard answer.isWatching else { continue }
      state.withLock { state in
        for case .watch(let call) in messages { state.watched[call]?.isTold = true }
      }
    }
  }

  private func lookSoon() {
    queue.asyncAfter(deadline: .now() + Self.interval) { [weak self] in self?.look() }
  }

  private func look() {
    let (waited, own) = (Set(ends.waited), table.own)
    let (due, untold, goesOn) = state.withLock { state in
      state.watched = state.watched.filter { waited.contains($0.key) }
      state.isLooking = !state.watched.isEmpty
      state.looks += 1
      let isForAll = state.looks % Self.rest == 0
      let others = state.watched.filter { !own.contains(target: $0.value.target) }
      let untold = others.filter { !$0.value.isTold }
      // Those whose owners could not be asked are asked again.
      return ((isForAll ? others : untold).map(\.key), isForAll ? untold : [:], state.isLooking)
    }
    ask(untold.map { ($0, $1.target) })
    var calls = due
    while !calls.isEmpty {
      // If the store cannot be read now, a later look may find them, and every wait has its own end.
      let ended = (try? reader.ended(among: Array(calls.prefix(Self.page)))) ?? []
      ends.ended(ended)
      calls.removeFirst(min(calls.count, Self.page))
    }
    if goesOn { lookSoon() }
  }

  // MARK: What clients of others wait for

  /// Remembers that an instance waits for calls. Call it before the store is asked which of them have ended.
  ///
  /// - Returns: Whether there is room, and the instance can be reached.
  func remember(_ calls: [CallID], for session: Int64) -> Bool {
    guard table.all.contains(where: { $0.session.id == session && $0.address != nil }) else { return false }
    return others.withLock { others in
      defer { count.store(others.count, ordering: .releasing) }
      return others.add(calls, for: session, at: clock.now)
    }
  }

  /// Tells the others of the ends that they wait for, which are on disk.
  func committed(_ writes: [StoreWrite]) {
    guard count.load(ordering: .acquiring) > 0 else { return }
    let news = others.withLock { others in
      defer { count.store(others.count, ordering: .releasing) }
      return others.ended(
        writes.lazy.compactMap { write in
          guard case .update(let id, let progress, _) = write, progress.state.isFinal else { return nil }
          return id
        }, at: clock.now)
    }
    guard !news.isEmpty else { return }
    let peers = Dictionary(table.all.map { ($0.session.id, $0) }) { first, _ in first }
    lane?.send(news.map { (.ended($0.call, for: $0.session), Self.size) }) { message in
      if case .ended(_, let session) = message { peers[session] } else { nil }
    }
  }
}

internal import RedialCore
internal import RedialLanes
internal import RedialModel
internal import RedialStore
internal import Synchronization

/// The thread with the connection by which an instance renews its lease, looks at the others, hears from them and tells
/// them. It is not the lane's: a long commit must not make the lease end.
final class Heartbeat: Sendable {
  /// The time between two heartbeats, of which each draws its own within a tenth.
  static let interval = Duration.milliseconds(250)

  /// A message to the others.
  private enum Message: Sendable {
    /// The owners of these shards: that calls for them are stored.
    case calls(ShardSet)
    /// All: to look at the database now.
    case news
  }

  private let settings: PostgresSettings
  private let lane: PostgresLane
  private let listener: @Sendable (PeerNews) -> Void
  private let mailbox = Mailbox<Message>()
  private let thread: BellThread

  /// Starts the thread.
  ///
  /// - Returns: Nil if the system has no file descriptor left.
  init?(_ settings: PostgresSettings, _ lane: PostgresLane, _ listener: @escaping @Sendable (PeerNews) -> Void) {
    guard let thread = BellThread("redial.postgres.heartbeat") else { return nil }
    self.thread = thread
    self.settings = settings
    self.lane = lane
    self.listener = listener
    thread.begin { [self] in
      var run = Run(self)
      run.untilClosed()
    }
  }

  /// Tells the owners of shards, from any thread.
  func tell(_ shards: ShardSet) { post(.calls(shards)) }

  /// Has all instances look at the database, from any thread.
  func tellAll() { post(.news) }

  private func post(_ message: Message) {
    if mailbox.post(message) == .mustWake { thread.bell.ring() }
  }

  /// Ends the thread, and waits until it has ended.
  func close() { thread.close() }

  /// The state of the thread.
  private struct Run {
    private let heart: Heartbeat
    private var connection: PostgresConnection?
    /// The server process of the connection before.
    private var process: Int64?
    /// How often the connection was lost since the last heartbeat.
    private var losses = 0
    /// The session on whose channel the connection listens.
    private var heard: Int64?
    private var watch = PeerWatch()
    private var hints = OwnerHints()
    private var peers: [Peer] = []
    private var nextBeat = ContinuousClock.now
    /// Whether a message to the others, that there is something new, has still to be sent.
    private var hasNews = false
    /// A loss that this instance has noticed, and has still to store.
    private var loss: LostCommits?
    /// The last loss that the store has.
    private var stored: LostCommits?

    init(_ heart: Heartbeat) {
      self.heart = heart
    }

    mutating func untilClosed() {
      var messages: [Message] = []
      while true {
        heart.thread.bell.silence()
        if heart.thread.isClosed { return }
        heart.mailbox.take(&messages)
        for message in messages {
          switch message {
          case .calls(let shards): hints.add(shards)
          case .news: hasNews = true
          }
        }
        do throws(PostgresFailure) {
          try step()
        } catch {
          // Whoever needs the lease notices that it is not renewed; and hints are only hints.
          connection = nil
          heard = nil
          losses += 1
          nextBeat = max(nextBeat, .now + LaneRun.pause(before: losses))
        }
      }
    }

    private mutating func step() throws(PostgresFailure) {
      // Those that arrived while an answer was awaited are not in the socket any more.
      if let connection, try takeMessages(connection) { return }
      if ContinuousClock.now >= nextBeat {
        nextBeat = .now + Heartbeat.interval * Double.random(in: 0.9...1.1)
        try beat()
      }
      if hasNews, let connection {
        _ = try connection.run([PostgresStatement(HeartbeatQueries.tellNews)], within: heart.limit)
        hasNews = false
      }
      var wakeUp = nextBeat
      if let connection {
        let (told, next) = hints.due(at: .now, owners: peers)
        if !told.isEmpty {
          var tell = PostgresStatement(HeartbeatQueries.tell)
          tell.add(told)
          do throws(PostgresFailure) {
            _ = try connection.run([tell], within: heart.limit)
          } catch {
            hints.notTold()
            throw error
          }
        }
        if let next { wakeUp = min(wakeUp, next) }
        // The beat may have taken some of them from the socket.
        if try takeMessages(connection) { return }
        _ = try connection.wait(until: wakeUp, or: heart.thread.bell.descriptor)
        _ = try takeMessages(connection)
      } else {
        heart.thread.bell.wait(wakeUp - .now)
      }
    }

    /// Reports the messages of other instances that have arrived. Returns false if there are none.
    private mutating func takeMessages(_ connection: PostgresConnection) throws(PostgresFailure) -> Bool {
      let messages = try connection.takeNotifications()
      if messages.contains("calls") { heart.listener(.callsStored) }
      if messages.contains("shards") {
        heart.listener(.changed)
        nextBeat = .now
      }
      if messages.contains("news") { nextBeat = .now }
      return !messages.isEmpty
    }

    private mutating func beat() throws(PostgresFailure) {
      let standing = heart.lane.standing.withLock { $0 }
      let connection = try connected(for: standing.session?.id)
      let now = heart.lane.needs.now()
      let known = heart.lane.needs.ledgers.watch.withLock { $0.known }
      var ledgers = PostgresStatement(HeartbeatQueries.ledgers)
      ledgers.add(Array(known.keys))
      var statements = [ledgers, PostgresStatement(HeartbeatQueries.lostCommits)]
      if let session = standing.session, let duration = standing.duration {
        var renew = PostgresStatement(HeartbeatQueries.renew)
        renew.add(session.id)
        renew.add(now?.microseconds)
        renew.add(duration.wholeMicroseconds)
        statements.append(renew)
      }
      for query in [HeartbeatQueries.peers, HeartbeatQueries.quiet] {
        var look = PostgresStatement(query)
        look.add(now?.microseconds)
        statements.append(look)
      }
      statements.append(PostgresStatement(HeartbeatQueries.versions))
      let asked = ContinuousClock.now
      let all = try connection.run(statements, within: heart.limit)
      let rows = Array(all.dropFirst(2))
      let answered = ContinuousClock.now
      losses = 0
      let look = Self.look(Array(rows.suffix(3)), own: standing.session?.id)
      if rows.count > 3, rows[0].count == 1, let session = standing.session {
        heart.listener(.renewed(session: session.id, asked: asked))
      }
      peers = look.peers
      hints.looked(at: look.peers)
      for news in watch.news(of: look, session: standing.session?.id) { heart.listener(news) }
      let quiet = rows[rows.count - 2]
      guard quiet.count == 1 else { return }
      let time = Timestamp(microseconds: quiet.integer(0, 1))
      heart.listener(.heard(ClockSample(asked: asked, answered: answered, time: time)))
      compare(all[0], all[1], knowing: known, at: time, on: connection.server)
      guard let loss else { return }
      var store = PostgresStatement(HeartbeatQueries.storeLostCommits)
      store.add(text: loss.text)
      _ = try connection.run([store], within: heart.limit)
      self.loss = nil
    }

    /// Reports commits that the server lacks: those that this instance misses, or else those that another one does.
    private mutating func compare(
      _ ledgers: PostgresRows, _ rows: PostgresRows, knowing known: [Int64: Int64], at now: Timestamp, on server: Int64
    ) {
      var found: [Int64: Int64] = [:]
      for row in 0..<ledgers.count { found[ledgers.integer(row, 0)] = ledgers.integerIfPresent(row, 1) }
      let sessions = Set(peers.map(\.session.id))
      let told = rows.count == 0 ? nil : LostCommits(rows.text(0, 0))
      let (lost, mustReport) = heart.lane.needs.ledgers.watch.withLock { watch in
        let lost = watch.look(at: found, knowing: known, sessions: sessions)
        if lost != nil { watch.reported(on: server) }
        return (lost, watch.mustReport(told, at: now))
      }
      if let lost {
        let own = LostCommits(made: lost.made, found: lost.found, at: now, server: server)
        loss = own
        heart.lane.needs.notices.post(.commitsLost(own, noticedHere: true))
      } else if mustReport, let told {
        heart.lane.needs.notices.post(.commitsLost(told, noticedHere: false))
      }
      if let told, told != stored { heart.listener(.commitsLost(told)) }
      stored = told
    }

    /// The connection, which listens on the session's channel.
    private mutating func connected(for session: Int64?) throws(PostgresFailure) -> PostgresConnection {
      let connection: PostgresConnection
      if let existing = self.connection {
        connection = existing
      } else {
        var settings = heart.settings
        // A lost packet must not take the time of the whole lease.
        settings.connectTimeout = min(settings.connectTimeout, .seconds(1))
        connection = try PostgresConnection(settings)
        // A renewal need not wait for a disk or a standby: a server that lacks it was started anew, which is followed by a
        // quiet time. Nor need a message to the owner of a call.
        try connection.execute(
          ["SET synchronous_commit = off"], purpose: "set up the connection", within: heart.limit)
        if let process {
          var stop = PostgresStatement(LeaseQueries.stop)
          stop.add(process)
          _ = try connection.run([stop], within: heart.limit)
        }
        process = connection.process
        // Another server may have fewer changes, and the same numbers for others.
        watch.forgetDocuments()
      }
      self.connection = connection
      guard heard != session else { return connection }
      var changes: [String] = []
      if let heard { changes.append("UNLISTEN redial_\(heard)") }
      if let session { changes.append("LISTEN redial_\(session)") }
      try connection.execute(changes, purpose: "listen to other instances", within: heart.limit)
      heard = session
      // Earlier messages are lost.
      heart.listener(.callsStored)
      return connection
    }

    private static func look(_ rows: [PostgresRows], own: Int64?) -> PeerLook {
      var look = PeerLook(isQuiet: rows[1].count == 1 && rows[1].integer(0, 0) == 1)
      let peers = rows[0]
      for row in 0..<peers.count {
        let bits = UInt64(bitPattern: peers.integer(row, 6))
        let id = peers.integer(row, 0)
        look.peers.append(
          Peer(
            session: LeaseSession(id: id, instance: Int(peers.integer(row, 1))),
            address: peers.isNull(row, 2) ? nil : peers.text(row, 2), version: peers.text(row, 3),
            shards: ShardSet(rawValue: bits),
            expiresAt: peers.integerIfPresent(row, 4).map { Timestamp(microseconds: $0) }, isSelf: id == own))
        if peers.integer(row, 5) == 1 { look.expired += 1 }
      }
      for row in 0..<rows[2].count {
        guard let kind = StoredDocument.Kind(rawValue: rows[2].text(row, 0)) else { continue }
        look.versions[kind] = rows[2].integer(row, 1)
      }
      return look
    }
  }

  /// How long an answer may take: after so long without one, another connection is tried, which has to have an answer before
  /// the lease ends.
  private var limit: Duration {
    let lease = lane.standing.withLock { $0.duration } ?? .seconds(3)
    return min(settings.answerTimeout, max(.milliseconds(500), lease / 3))
  }
}

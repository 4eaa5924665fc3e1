internal import RedialModel
internal import RedialStore
internal import Synchronization

/// The numbers by which tables name targets and namespaces. On one server they never change, so they are looked up once.
final class NumberTable: Sendable {
  /// The maximum number of targets in memory; all are forgotten when others come.
  static let mostTargets = 16_384
  /// How often numbers are looked up if the server changes meanwhile.
  private static let mostLooks = 3

  /// What is known, of one server.
  private final class Known: Sendable {
    let numbers = Mutex(CommitStatements.Numbers())

    /// There is a connection to this server: what others have given is forgotten.
    func meet(_ server: Int64) {
      numbers.withLock { if $0.server != server { $0 = CommitStatements.Numbers(server: server) } }
    }
  }

  /// The connection for look-ups.
  let side: SideConnection
  private let known: Known

  private static let addTargets = PostgresQuery(
    "add_targets", "store targets",
    """
    INSERT INTO targets (key, shard) SELECT key, shard FROM unnest($1::text[], $2::int8[]) AS u (key, shard)
    ORDER BY key COLLATE "C" ON CONFLICT (key) DO NOTHING
    """)
  private static let findTargets = PostgresQuery(
    "find_targets", "find targets", "SELECT key, id FROM targets WHERE key = ANY($1::text[])")
  private static let addNamespaces = PostgresQuery(
    "add_namespaces", "store namespaces",
    """
    INSERT INTO namespaces (name) SELECT name FROM unnest($1::text[]) AS u (name)
    ORDER BY name COLLATE "C" ON CONFLICT (name) DO NOTHING
    """)
  private static let findNamespaces = PostgresQuery(
    "find_namespaces", "find namespaces", "SELECT name, id FROM namespaces WHERE name = ANY($1::text[])")

  /// Knows only the default namespace.
  init(_ settings: PostgresSettings) {
    let known = Known()
    self.known = known
    side = SideConnection(settings) { known.meet($0) }
  }

  /// There is a connection to this server (``Greeting/server``).
  func meet(_ server: Int64) {
    known.meet(server)
  }

  /// The numbers of these; unknown ones get new numbers. Those need not be on disk yet: they are before any commit that uses
  /// them.
  func numbers(targets: Set<TargetKey>, namespaces: Set<Namespace>) throws(StoreError) -> CommitStatements.Numbers {
    for _ in 0..<Self.mostLooks {
      let before = known.numbers.withLock { $0 }
      let newTargets = targets.filter { before.targets[$0] == nil }
      let newNamespaces = namespaces.filter { before.namespaces[$0] == nil }
      if newTargets.isEmpty, newNamespaces.isEmpty { return before }
      let found = CommitStatements.Numbers(targets: try find(newTargets), namespaces: try find(newNamespaces))
      if let all = merge(found, into: before.server) { return all }
    }
    throw StoreError(
      kind: .unavailable, message: "\(side.settings.place) was another server each time. It is tried again.")
  }

  /// Adds what was found, and returns all that is known; nil if the numbers may be of another server.
  private func merge(_ found: CommitStatements.Numbers, into server: Int64?) -> CommitStatements.Numbers? {
    known.numbers.withLock { known in
      guard known.server == server else { return nil }
      var all = known
      all.targets.merge(found.targets) { $1 }
      all.namespaces.merge(found.namespaces) { $1 }
      known = all
      if known.targets.count > Self.mostTargets { known.targets = found.targets }
      return all
    }
  }

  private func find(_ targets: Set<TargetKey>) throws(StoreError) -> [TargetKey: Int64] {
    guard !targets.isEmpty else { return [:] }
    let keys = Array(targets)
    var find = PostgresStatement(Self.findTargets)
    find.add(texts: keys.map(\.text))
    var found = Self.numbers(try side.run([find])[0]) { TargetKey(qualified: $0) }
    let new = keys.filter { found[$0] == nil }
    guard !new.isEmpty else { return found }
    var add = PostgresStatement(Self.addTargets)
    add.add(texts: new.map(\.text))
    add.add(new.map { Int64(ShardSet.shard(of: $0)) })
    _ = try side.run([PostgresStatement(LeaseQueries.lazily), add])
    found.merge(Self.numbers(try side.run([find])[0]) { TargetKey(qualified: $0) }) { $1 }
    return found
  }

  private func find(_ namespaces: Set<Namespace>) throws(StoreError) -> [Namespace: Int64] {
    guard !namespaces.isEmpty else { return [:] }
    let names = namespaces.map { Optional($0.name) }
    var (add, find) = (PostgresStatement(Self.addNamespaces), PostgresStatement(Self.findNamespaces))
    add.add(texts: names)
    find.add(texts: names)
    _ = try side.run([PostgresStatement(LeaseQueries.lazily), add])
    return Self.numbers(try side.run([find])[0]) { Namespace($0) ?? .default }
  }

  private static func numbers<Key: Hashable>(_ rows: PostgresRows, _ key: (String) -> Key) -> [Key: Int64] {
    var numbers: [Key: Int64] = [:]
    for row in 0..<rows.count { numbers[key(rows.text(row, 0))] = rows.integer(row, 1) }
    return numbers
  }
}

internal import RedialStore

/// The statements of heartbeats.
enum HeartbeatQueries {
  /// Renews the lease of a session that stands. While another instance ends the session it waits, and then finds no row.
  static let renew = PostgresQuery(
    "beat_renew", "renew the lease",
    """
    UPDATE beats SET expires_at = \(LeaseQueries.now("$2")) + $3::int8
    WHERE session = $1::int8 AND EXISTS (SELECT 1 FROM sessions WHERE id = $1::int8) RETURNING 1
    """)

  /// The sessions, each with its shards as one bit each, and whether it is over.
  static let peers = PostgresQuery(
    "beat_peers", "look at the other instances",
    """
    SELECT s.id, s.instance, s.address, s.version, b.expires_at, coalesce(b.expires_at <= \(LeaseQueries.now("$1")), false),
      coalesce(bit_or(1::int8 << l.shard::int4), 0)
    FROM sessions s LEFT JOIN beats b ON b.session = s.id LEFT JOIN leases l ON l.owner = s.id
    GROUP BY s.id, s.instance, s.address, s.version, b.expires_at ORDER BY s.instance
    """)

  /// Whether nobody may end sessions or take shards now, or another server has taken over that nobody has noticed; and the
  /// time.
  static let quiet = PostgresQuery(
    "beat_quiet", "look for another server",
    """
    SELECT quiet_until > \(LeaseQueries.now("$1")) OR server NOT IN (0, \(LeaseQueries.serverStart)), \(LeaseQueries.now("$1"))
    FROM control
    """)

  /// The last numbers in these ledgers, and in those of all sessions.
  static let ledgers = PostgresQuery(
    "beat_ledgers", "look for lost commits",
    """
    SELECT u.id, (SELECT max(seq) FROM commits WHERE session = u.id)
    FROM (SELECT id FROM sessions UNION SELECT unnest($1::int8[])) u (id)
    """)

  /// The last loss that an instance has noticed.
  static let lostCommits = PostgresQuery(
    "beat_lost_commits", "look for lost commits",
    "SELECT value FROM settings WHERE name = '\(LostCommits.settingName)'")

  /// Stores a loss for the other instances, if it is the first that one has noticed on this server.
  static let storeLostCommits = PostgresQuery(
    "beat_store_lost_commits", "store which commits are lost",
    """
    INSERT INTO settings (name, value) VALUES ('\(LostCommits.settingName)', $1::text)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value
    WHERE split_part(settings.value, ' ', 4) <> split_part(excluded.value, ' ', 4)
    """)

  static let versions = PostgresQuery("beat_versions", "look for changed documents", "SELECT kind, n FROM versions")

  /// Tells instances. A lost message only makes something later, so that nothing needs to wait for the disk.
  static let tell = PostgresQuery(
    "beat_tell", "tell other instances",
    """
    SELECT set_config('synchronous_commit', 'off', true), pg_notify('redial_' || id, 'calls') FROM unnest($1::int8[]) AS u (id)
    """)

  /// Has all instances look.
  static let tellNews = PostgresQuery(
    "beat_tell_news", "tell other instances", "SELECT pg_notify('redial_' || id, 'news') FROM sessions")

  /// Tells all instances.
  static let tellAll = PostgresQuery(
    "beat_tell_all", "tell other instances", "SELECT pg_notify('redial_' || id, 'shards') FROM sessions")
}

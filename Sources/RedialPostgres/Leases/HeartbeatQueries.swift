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

internal import RedialModel

/// The statements about the turns of ordering keys. Only the owner of a shard gives turns; so two instances never look
/// for a free turn at the same time.
enum TurnQueries {
  /// Lets calls wait for their turn. Those of other owners are offered to them.
  ///
  /// A new call ($7 is 1) gets a place behind all calls of its key that wait. So the order is that of the commits, also if the
  /// clocks that gave the ids disagree. Two calls get the same place only if neither was acknowledged before the other was
  /// sent: then their ids decide. One that runs again was accepted before all that wait, and has the place 0.
  static let enter = PostgresQuery(
    "turns_enter", "have calls wait for their turn",
    """
    INSERT INTO turns (call_id, target_id, key, namespace, shard, has_turn, offered, place)
    SELECT u.call_id, u.target_id, u.key, u.namespace, u.shard, false, l.owner IS DISTINCT FROM $6::int8,
      CASE WHEN u.is_new = 1 THEN 1 + coalesce((SELECT t.place FROM turns t WHERE t.target_id = u.target_id AND t.key = u.key
        AND NOT t.has_turn ORDER BY t.place DESC, t.call_id DESC LIMIT 1), 0) ELSE 0 END
    FROM unnest($1::int8[], $2::int8[], $3::text[], $4::int8[], $5::int8[], $7::int8[])
        AS u (call_id, target_id, key, namespace, shard, is_new)
      JOIN leases l ON l.shard = u.shard
    ON CONFLICT (call_id) DO NOTHING
    """)

  /// Takes the turns from calls that have ended ($1), or that were discarded and are gone ($2). The condition is written so
  /// that the server does not read all turns that calls have.
  static let release = PostgresQuery(
    "turns_release", "end turns", "UPDATE turns t SET has_turn = false WHERE t.has_turn IS NOT FALSE AND \(ended)")

  private static let ended = """
    t.call_id = ANY($1::int8[] || ARRAY(SELECT u.id FROM unnest($2::int8[]) AS u (id)
      WHERE \(Lookup.none("live", "id", "u.id")) AND \(Lookup.none("done", "id", "u.id"))))
    """

  /// Gives the free turns of the keys of these calls to the first calls that wait for them, and offers them to the
  /// owner if that is another instance; and schedules the calls that have the turn.
  ///
  /// The owner may give the turn between the two moments at which this statement looks for a call and changes it: such a
  /// call keeps it.
  ///
  /// $3 are calls that have just begun to wait: one of them may have had the turn already.
  static let grant = PostgresQuery(
    "turns_grant", "give turns",
    """
    WITH groups AS (SELECT t.target_id, t.key, t.shard FROM turns t WHERE t.call_id = ANY($3::int8[])
        UNION SELECT t.target_id, t.key, t.shard FROM turns t WHERE \(ended)),
      next AS (SELECT (SELECT t.call_id FROM turns t WHERE t.target_id = g.target_id AND t.key = g.key
          AND NOT t.has_turn AND NOT (\(ended)) ORDER BY t.place, t.call_id LIMIT 1) AS call_id, l.owner IS NOT DISTINCT FROM $4::int8 AS own
        FROM groups g JOIN leases l ON l.shard = g.shard WHERE \(isFree)),
      given AS (UPDATE turns t SET has_turn = next.own, offered = NOT next.own FROM next
        WHERE \(Lookup.row("t.call_id", "next.call_id")) AND NOT t.has_turn RETURNING t.call_id, t.has_turn)
    UPDATE live SET \(scheduled) WHERE id = ANY(ARRAY(SELECT call_id FROM given WHERE has_turn
      UNION ALL SELECT call_id FROM turns WHERE call_id = ANY($3::int8[]) AND has_turn))
    """)

  /// Removes the turns of calls that have ended.
  static let leave = PostgresQuery("turns_leave", "end turns", "DELETE FROM turns t WHERE \(ended)")

  /// Gives the free turns of the session's shards: those that others have offered ($2 empty), or all of some shards
  /// ($2). Returns a row for each turn that was given.
  static let grantFree = PostgresQuery(
    "turns_grant_free", "give free turns",
    """
    WITH seen AS (SELECT t.call_id, t.target_id, t.key FROM turns t JOIN leases l ON l.shard = t.shard
        WHERE l.owner = $1::int8 AND t.offered
        UNION SELECT t.call_id, t.target_id, t.key FROM turns t JOIN leases l ON l.shard = t.shard
        WHERE l.owner = $1::int8 AND t.shard = ANY($2::int8[]) AND cardinality($2::int8[]) > 0),
      next AS (SELECT n.call_id FROM (SELECT DISTINCT target_id, key FROM seen) g
        CROSS JOIN LATERAL (SELECT t.call_id FROM turns t WHERE t.target_id = g.target_id AND t.key = g.key
          AND NOT t.has_turn ORDER BY t.place, t.call_id LIMIT 1) n WHERE \(isFree)),
      given AS (UPDATE turns t SET offered = false, has_turn = t.has_turn OR t.call_id IN (SELECT call_id FROM next)
        WHERE t.call_id = ANY(ARRAY(SELECT call_id FROM seen UNION SELECT call_id FROM next))
        RETURNING t.call_id)
    UPDATE live SET \(scheduled) WHERE id = ANY(ARRAY(SELECT call_id FROM next)) RETURNING 1
    """)

  /// Nobody has the turn of the key of `g`.
  private static let isFree = """
    NOT EXISTS (SELECT 1 FROM turns h WHERE h.target_id = g.target_id AND h.key = g.key AND h.has_turn OFFSET 0)
    """

  private static let scheduled = """
    state = \(StoredState.scheduled.rawValue), due = round_started_at, at = round_started_at,
      waiting = \(WaitReason.startTime.rawValue)
    """
}

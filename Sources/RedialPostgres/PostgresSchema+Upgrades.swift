extension PostgresSchema {
  /// The statements that bring the tables of a version to the next one, by version. All that are needed are one transaction.
  ///
  /// They never change once they were released: what they make is the next version, and not the newest.
  static let upgrades: [Int64: [String]] = [
    1: packedAttempts, 2: askedPauses, 3: placesInOrder, 4: targetRecords,
    5: failedGroups, 6: checksums,
    // Issues and notices took their place. What is still wrong is reported again.
    7: ["DELETE FROM documents WHERE kind IN ('incident', 'incidentMark')"],
  ]

  /// What the view `calls` selects since version 2.
  private static let calls = """
    SELECT id, shard, namespace, kind, target_id, created_at, priority, callback, state, at, waiting, attempts,
      interruptions, attempts_before, round_started_at, previous_wait, total_wait, finished_at, failure, last_outcome,
      last_status, past FROM live
    UNION ALL
    SELECT id, shard, namespace, kind, target_id, created_at, priority, callback, state, at, waiting, attempts,
      interruptions, attempts_before, round_started_at, previous_wait, total_wait, finished_at, failure, last_outcome,
      last_status, past FROM done
    """

  /// Packed attempts, arrays of rows, and claims that know which of their calls need their attempts.
  private static let packedAttempts = [
    "ALTER TABLE live ADD COLUMN past bytea", "ALTER TABLE done ADD COLUMN past bytea",
    "CREATE OR REPLACE VIEW calls AS \(calls)",
    """
    CREATE TYPE new_call AS (
      id int8, shard int8, namespace int8, kind int8, target_id int8, created_at int8, priority int8, callback int8,
      state int8, at int8, waiting int8, attempts int8, interruptions int8, attempts_before int8, round_started_at int8,
      previous_wait int8, total_wait int8, finished_at int8, failure int8, outcome int8, status int8)
    """,
    """
    CREATE TYPE call_progress AS (
      id int8, state int8, at int8, waiting int8, attempts int8, interruptions int8, attempts_before int8,
      round_started_at int8, previous_wait int8, total_wait int8, finished_at int8, failure int8, outcome int8,
      status int8, past bytea)
    """,
    "ALTER TABLE claims ADD COLUMN callbacks int8[]",
  ]

  /// Until when targets asked to be left alone.
  private static let askedPauses = ["ALTER TABLE targets ADD COLUMN asked_until int8"]

  /// The order of the calls of a key, which was that of their ids.
  private static let placesInOrder = [
    "ALTER TABLE turns ADD COLUMN place int8 NOT NULL DEFAULT 0", "DROP INDEX turns_awaited",
    "CREATE INDEX turns_awaited ON turns (target_id, key, place, call_id) WHERE NOT has_turn",
  ]

  /// One record for each target; policies and operations as documents.
  ///
  /// What a row has as JSON is not looked at here, so that what is none is found, and named, when all is read. Two things had
  /// another meaning before: a number of consecutive failures opened a breaker whatever their chance and time, and the target of
  /// a disabled endpoint was paused.
  private static let targetRecords = [
    "ALTER TABLE targets ADD COLUMN record bytea",
    """
    UPDATE targets t SET paused = false WHERE paused AND EXISTS (SELECT 1 FROM documents d WHERE d.kind = 'webhookEndpoint'
      AND position('"disabledReason":"'::bytea IN d.content) > 0 AND t.key LIKE '%webhook:' || d.id)
    """,
    """
    UPDATE targets SET overrides = '{"breaker":{"significance":1,"failureTime":"0s",'::bytea || substring(overrides FROM 13)
    WHERE position('{"breaker":{"consecutiveFailures":'::bytea IN overrides) = 1
      AND position('"significance":'::bytea IN overrides) = 0 AND position('"failureTime":'::bytea IN overrides) = 0
    """,
    """
    UPDATE targets SET record = '{"controls":{"overrides":'::bytea || coalesce(overrides, 'null'::bytea)
      || convert_to(concat(',"paused":', to_json(paused), ',"tripped":', to_json(tripped), '}',
        ',"breaker":' || CASE WHEN breaker_until IS NOT NULL
          THEN json_build_object('until', breaker_until, 'trips', breaker_trips)::text END,
        ',"pace":' || CASE WHEN pace_at IS NOT NULL THEN json_build_object('delivered', pace_delivered / 1000.0,
          'limited', pace_limited, 'at', pace_at)::text END,
        ',"askedUntil":' || asked_until::text, '}'), 'UTF8')
    WHERE breaker_until IS NOT NULL OR overrides IS NOT NULL OR paused OR tripped OR pace_at IS NOT NULL
      OR asked_until IS NOT NULL
    """,
    """
    ALTER TABLE targets DROP COLUMN breaker_until, DROP COLUMN breaker_trips, DROP COLUMN overrides, DROP COLUMN paused,
      DROP COLUMN tripped, DROP COLUMN pace_delivered, DROP COLUMN pace_limited, DROP COLUMN pace_at, DROP COLUMN asked_until
    """,
    """
    INSERT INTO documents (kind, id, content) SELECT 'policy', name || '@' || version,
      convert_to(concat('{"name":', to_json(name), ',"version":', version, ',"createdAt":', created_at, ',"policy":'), 'UTF8')
      || CASE WHEN length(policy) > 0 THEN policy ELSE 'null'::bytea END || '}'::bytea FROM policies
    """,
    """
    INSERT INTO documents (kind, id, content) SELECT 'operation', id::text,
      convert_to(concat('{"id":', id, ',"request":'), 'UTF8') || request || ','::bytea || substring(convert_to(
        json_build_object('namespace', namespace, 'createdAt', created_at, 'state', state, 'finishedAt', finished_at,
        'matched', matched, 'done', done, 'skipped', skipped, 'cursor', cursor)::text, 'UTF8') FROM 2) FROM operations
    """,
    "DROP TABLE policies", "DROP TABLE operations", "DELETE FROM versions",
  ]

  /// Groups of failed calls. The view names the columns, so it goes before their type changes.
  private static let failedGroups = [
    "DROP VIEW calls", "ALTER TABLE live ALTER COLUMN failure TYPE int8",
    "ALTER TABLE done ALTER COLUMN failure TYPE int8",
    "CREATE VIEW calls AS \(calls)",
    "CREATE INDEX done_failed ON done (namespace, failure, id) INCLUDE (finished_at) WHERE failure IS NOT NULL",
  ]

  /// Checksums. Rows that are there have none.
  private static let checksums = [
    "ALTER TABLE requests ADD COLUMN sums int8",
    "ALTER TABLE attempts ADD COLUMN sum int4, ADD COLUMN response_sum int8",
    "ALTER TABLE retries ADD COLUMN sum int4", "ALTER TABLE keys ADD COLUMN sum int4",
    "ALTER TABLE documents ADD COLUMN sum int4",
  ]
}

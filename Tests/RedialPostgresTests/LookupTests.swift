import Testing

@testable import RedialPostgres

@Suite("Looking rows up")
struct LookupTests {
  let database = TestDatabase()

  /// The statements that look rows up by their ids, with the number of their parameters.
  private static let queries: [(PostgresQuery, parameters: Int)] = [
    (CommitQueries.update, 2), (CommitQueries.end, 2), (CommitQueries.insertForeign, 1),
    (CommitQueries.forgetBodies, 2), (CommitQueries.forgetPackedBodies, 1), (CommitQueries.erasePackedResponses, 1),
    (CommitQueries.eraseRequests, 3), (CommitQueries.removeOldRetries, 1),
    (CommitQueries.setRecords, 2),
    (ClaimQueries.due, 6), (ClaimQueries.queued, 5), (ClaimQueries.again, 3), (ClaimQueries.attempts, 2),
    (ClaimQueries.named, 4), (ClaimQueries.find, 3),
    (ClaimQueries.retries, 2), (ClaimQueries.running, 2), (ClaimQueries.runningAttempts, 1),
    (ClaimQueries.runningRetries, 1), (ClaimQueries.keys, 2), (TurnQueries.enter, 7), (TurnQueries.release, 2),
    (TurnQueries.grant, 4),
    (TurnQueries.leave, 2), (ReadQueries.call, 3), (ReadQueries.records, 1),
  ]
  /// The tables that grow with the number of calls.
  private static let large = ["live", "done", "requests", "attempts", "retries", "keys", "targets", "turns"]

  @Test("no statement reads a whole table, not even one that seemed to be empty when it was vacuumed")
  func plans() throws {
    try PostgresStore(database.settings).close()
    // The tables get pages, and vacuum finds no row in them.
    let row = "SELECT n, 0, 0, 0, 1, n, 0, false, 0, n, n, 0, 0, 0, 0, 0, 0 FROM generate_series(1, 3000) n"
    for statement in [
      """
      INSERT INTO live (id, shard, namespace, kind, target_id, created_at, priority, callback, state, due, at, attempts,
        interruptions, attempts_before, round_started_at, previous_wait, total_wait) \(row)
      """, "INSERT INTO requests (id, spec) SELECT id, '' FROM live",
      "DELETE FROM live WHERE id < 3000", "DELETE FROM requests WHERE id < 3000", "VACUUM (ANALYZE) live",
      "VACUUM (ANALYZE) requests",
    ] {
      _ = try database.rows(statement)
    }
    let connection = try PostgresConnection(database.settings)
    for (query, parameters) in Self.queries {
      try connection.execute(["PREPARE p_\(query.name) AS \(query.sql)"], purpose: "prepare", within: .seconds(60))
      let arguments = [String](repeating: "NULL", count: parameters).joined(separator: ", ")
      let explain = PostgresQuery("e_\(query.name)", "explain", "EXPLAIN EXECUTE p_\(query.name) (\(arguments))")
      let rows = try connection.run([PostgresStatement(explain)], within: .seconds(60))[0]
      let plan = rows.map { rows.text($0, 0) } + [""]
      for (line, next) in zip(plan, plan.dropFirst()) {
        guard line.contains("Scan"), Self.large.contains(where: { line.contains(" on \($0) ") }) else { continue }
        let isLookup = next.contains("Index Cond:") || next.contains("Recheck Cond:")
        #expect(isLookup, "\(query.name): \(plan.joined(separator: "\n"))")
      }
    }
  }
}

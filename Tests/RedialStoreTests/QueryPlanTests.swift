import RedialCore
import RedialModel
import StoreConformance
import Testing

@testable import RedialSQLite
@testable import RedialStore

@Suite("Query plans")
struct QueryPlanTests {
  let folder = TemporaryFolder()

  @Test("no statement of the writer reads more than its work")
  func writer() throws {
    let store = try SQLiteStore(path: folder.file("calls.db"))
    defer { store.close() }
    let plans = plans(try store.file.connection.plans())
    #expect(plans.count >= 18)
    // The only scans: over queued calls and those that wait for their turn, over targets, over namespaces, and, when
    // the service starts, over sessions and the 64 leases, of which there are no more than the settings
    // allow.
    let allowed = [
      "SCAN calls USING INDEX calls_queued", "SCAN targets",
      "SCAN q", "SCAN finished_counts",
      "SCAN turns USING INDEX turns_awaited", "SCAN n", "SCAN namespaces", "SCAN leases", "SCAN sessions",
      "SCAN sessions USING INDEX sqlite_autoindex_sessions_1",
      // The rows of one insertion.
      "SCAN 8-ROW VALUES CLAUSE", "SCAN 8 CONSTANT ROWS",
    ]
    // And over labels, when a call is removed whose spec does not contain its labels.
    check(plans.filter { $0.sql != "DELETE FROM labels WHERE call_id = ?1" }, allowing: allowed + ["SCAN call_log"])
    expect(
      plans, "DELETE FROM labels WHERE name", uses: "SEARCH labels USING PRIMARY KEY (name=? AND value=? AND call_id=?)"
    )
    expect(plans, "due <= ?1", uses: "SEARCH calls USING INDEX calls_due (namespace=? AND due<?)")
    expect(
      plans, "AND target_id = ?1 ORDER BY priority DESC", uses: "SEARCH calls USING INDEX calls_queued (target_id=?)")
    expect(plans, "finished_at <= ?1", uses: "SEARCH calls USING INDEX calls_finished (finished_at<?)")
    expect(plans, "ORDER BY due LIMIT 1", uses: "SEARCH calls USING INDEX calls_due (namespace=?)")
    expect(plans, "GROUP BY target_id) q", uses: "SCAN calls USING INDEX calls_queued")
    expect(plans, "GROUP BY target_id, key", uses: "SCAN turns USING INDEX turns_awaited")
    expect(
      plans, "AND state = 2 AND waiting IS 0",
      uses: "SEARCH calls USING INDEX calls_by_state (namespace=? AND kind=? AND state=?)")
    expect(
      plans, "AND state <= 2", uses: "SEARCH calls USING INDEX calls_by_state (namespace=? AND kind=? AND state<?)")
    expect(plans, "SELECT 1 FROM sessions WHERE id = ?1", uses: "SEARCH sessions USING INTEGER PRIMARY KEY (rowid=?)")
    expect(
      plans, "SET state = CASE", uses: "SEARCH calls USING INDEX calls_by_state (namespace=? AND kind=? AND state=?)")
  }

  @Test("no list reads more than its result")
  func lists() throws {
    let store = try SQLiteStore(path: folder.file("calls.db"))
    defer { store.close() }
    let reader = try SQLiteReader(path: folder.file("calls.db"), connections: 1, beside: store)
    try store.commit([.insert(Sample.call(1))])
    for state in [nil] + CallState.allCases.map({ Optional($0) }) {
      for target in [nil, "https://example.com"] {
        _ = try reader.calls(CallQuery(state: state, target: target))
      }
    }
    _ = try reader.calls(CallQuery(CallFilter(labels: [.init(name: "a", value: "b")])))
    _ = try reader.calls(CallQuery(CallFilter(statuses: 500...599)))
    let plans = plans(try reader.plans())
    expect(
      plans, "FROM labels WHERE name = ?5",
      uses: "SEARCH labels USING PRIMARY KEY (name=? AND value=? AND call_id>? AND call_id<?)")
    expect(plans, "SELECT 1 FROM calls c WHERE", uses: "SEARCH c USING INTEGER PRIMARY KEY (rowid=?)")
    expect(
      plans, "FROM attempts WHERE call_id = ?1 ORDER BY number DESC",
      uses: "SEARCH attempts USING INDEX sqlite_autoindex_attempts_1 (call_id=?)")
    let lists = plans.filter { $0.sql.hasSuffix("ORDER BY id DESC LIMIT ?3") }
    #expect(lists.count == 12)
    // The stored counts are a row for each kind and final state. Failed calls are counted by hour, of which there are 24.
    check(plans, allowing: ["SCAN finished_counts", "SCAN n", "SCAN namespaces", "USE TEMP B-TREE FOR GROUP BY"])
    expect(
      plans, "GROUP BY failure, hour",
      uses: "SEARCH calls USING INDEX calls_failed (namespace=? AND failure>? AND failure<?)")
    expect(
      plans, "FROM turns INDEXED BY turns_by_namespace",
      uses: "SEARCH turns USING INDEX turns_by_namespace (namespace=?)")
    for list in lists {
      let searches = list.steps.filter { $0.contains("SEARCH") }
      #expect(searches.count == list.sql.split(separator: "UNION ALL").count)
      for search in searches {
        let byState =
          search
          == "SEARCH calls USING INDEX calls_by_state (namespace=? AND kind=? AND state=? AND rowid>? AND rowid<?)"
        let byTarget =
          search
          == "SEARCH calls USING INDEX calls_by_target (target_id=? AND kind=? AND state=? AND rowid>? AND rowid<?)"
        let inMemory = byState
        #expect(list.sql.contains("target_id") ? byTarget || inMemory : byState, "\(list)")
      }
    }
  }

  /// SQLite's plans. Whether an index covers a query is left out: versions differ in that for a partial index.
  private func plans(_ explained: [(sql: String, steps: [String])]) -> [(sql: String, steps: [String])] {
    explained.map { ($0.sql, $0.steps.map { $0.replacing("COVERING ", with: "") }) }
  }

  private func check(_ plans: [(sql: String, steps: [String])], allowing allowed: [String]) {
    for plan in plans {
      for step in plan.steps where !allowed.contains(step) {
        #expect(!step.hasPrefix("SCAN") && !step.contains("TEMP B-TREE"), "\(plan)")
      }
    }
  }

  private func expect(_ plans: [(sql: String, steps: [String])], _ fragment: String, uses step: String) {
    let found = plans.filter { $0.sql.contains(fragment) }
    #expect(found.count == 1, "\(fragment)")
    #expect(found.allSatisfy { $0.steps.contains(step) }, "\(found)")
  }
}

internal import RedialCore
internal import RedialModel
internal import RedialStore

/// A condition on why calls wait, as the server checks it: with a rule for each target that does not take calls as usual.
struct WaitRules {
  private let condition: WaitCondition
  private var targets: [Int64] = []
  private var rules: [WaitCondition.Rule] = []

  init(_ condition: WaitCondition) {
    self.condition = condition
  }

  /// Adds the rule for a target, by its number.
  mutating func add(_ rule: WaitCondition.Rule, of target: Int64) {
    targets.append(target)
    rules.append(rule)
  }

  /// The targets with these keys, and those of these shards, which other instances own, if they may not take calls: the
  /// store has a record of them, or they are targets of webhooks, which wait while their endpoint is disabled.
  static let find = PostgresQuery(
    "wait_rules", "see how targets stand",
    """
    SELECT id, key, NULL::bytea FROM targets WHERE key = ANY($1::text[])
    UNION ALL SELECT id, key, record FROM targets
      WHERE shard = ANY($2::int8[]) AND (record IS NOT NULL OR position('\(WebhookSubscription.targetPrefix)' in key) > 0)
    """)

  /// The columns of a call that the condition needs.
  static let columns = ["attempts", "attempts_before", "waiting", "at", "target_id", "shard"]

  /// Adds to a row of these columns the rule for its target; NULLs if that takes calls as usual.
  static let join = """
    LEFT JOIN unnest($19::int8[], $20::int8[], $21::int8[], $22::int8[], $23::int8[])
      AS w (target, first_from, first, retry_from, retry) ON w.target = target_id
    """

  /// True for the rows of the calls that match.
  static let condition = """
    CASE WHEN waiting = \(WaitReason.ordering.rawValue) THEN $24::int8 = 1
      WHEN waiting IN (\(WaitReason.ofCall.map { "\($0.rawValue)" }.joined(separator: ", ")))
        AND at >= CASE WHEN w.target IS NULL THEN $25::int8 WHEN attempts > attempts_before THEN w.retry_from
          ELSE w.first_from END
        THEN ($26::int8 IS NULL OR waiting = $26::int8) AND ($27::int8 IS NULL OR at < $27::int8)
      WHEN w.target IS NULL THEN $28::int8 = 1 AND shard = ANY($29::int8[])
      WHEN attempts > attempts_before THEN w.retry = 1 ELSE w.first = 1 END
    """

  /// Adds the parameters from $19 on.
  func add(to statement: inout PostgresStatement) {
    let usual = condition.usualRule(isOwn: true).first
    statement.add(targets)
    statement.add(rules.map(\.first.ownFrom))
    statement.add(rules.map { $0.first.matches ? 1 as Int64 : 0 })
    statement.add(rules.map(\.retry.ownFrom))
    statement.add(rules.map { $0.retry.matches ? 1 as Int64 : 0 })
    statement.add(condition.matchesOrdering ? 1 : 0)
    statement.add(usual.ownFrom)
    statement.add(condition.reason.map { Int64($0.rawValue) })
    statement.add(condition.before?.microseconds)
    statement.add(usual.matches ? 1 : 0)
    statement.add(condition.known.own.shards.map(Int64.init))
  }
}

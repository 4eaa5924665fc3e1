internal import RedialModel
internal import RedialStore

/// Calls that are sealed again in one transaction, beside instances that change them.
///
/// A row is changed only if it is as it was read: what was erased meanwhile stays erased. And the transaction never waits for
/// a row, because it has others locked: what somebody else has locked is left for another try.
struct RekeyBatch {
  private var requests: [(id: Int64, old: [UInt8], new: StoredRequest, hasBody: Bool, sums: Int64?)] = []
  private var past: [(id: Int64, old: [UInt8], new: [UInt8])] = []
  private var attempts: [Attempt] = []

  /// An attempt that is sealed again.
  private struct Attempt {
    let call: Int64
    let new: StoredAttempt
    /// What its row had, by which a change by somebody else is found: NULL and empty bytes are two things there, and one in
    /// an attempt that was read.
    let old: (flags: Int64?, head: [UInt8]?, message: String?)
    let sums: AttemptSums
  }

  /// Reads calls, and seals what is not by the newest key. What does not open stays as it is.
  init(_ ids: [Int64], _ side: SideConnection) throws(StoreError) {
    let vault = side.settings.vault
    var (find, findAttempts) = (PostgresStatement(Self.rows), PostgresStatement(Self.attemptRows))
    find.add(ids)
    findAttempts.add(ids)
    let found = try side.run([find, findAttempts])
    let (rows, attempts) = (found[0], found[1])
    var namespaces: [Int64: String] = [:]
    for row in 0..<rows.count { namespaces[rows.integer(row, 0)] = rows.text(row, 5) }
    try StoredDataKeys.ensure(vault.sealsAll ? Set(namespaces.values) : [], side)
    for row in 0..<rows.count {
      let (id, namespace) = (rows.integer(row, 0), rows.text(row, 5))
      let stored = StoredRequest(
        spec: rows.bytes(row, 1), body: rows.bytes(row, 2), inflatedSize: rows.integerIfPresent(row, 3))
      guard vault.sealsAll || stored.spec.first == SealedForm.marker else {
        namespaces[id] = nil
        continue
      }
      if let new = try? vault.resealed(stored, of: CallID(rawValue: id), in: namespace) {
        // A wrong checksum stays, or it would not be known any more that the call is damaged.
        let (sums, id) = (rows.integerIfPresent(row, 6), CallID(rawValue: id))
        let isIntact = sums == nil || sums == stored.sums(of: id).column
        requests.append(
          (id.rawValue, stored.spec, new, !rows.isNull(row, 2), isIntact ? new.sums(of: id).column : sums))
      }
      if !rows.isNull(row, 4), let new = Self.past(rows.bytes(row, 4), of: id, namespace, vault) {
        past.append((id, rows.bytes(row, 4), new))
      }
    }
    for row in 0..<attempts.count {
      let call = attempts.integer(row, 0)
      let (stored, sums) = AttemptColumns.stored(attempts, row)
      guard let namespace = namespaces[call],
        let new = try? stored.resealed(of: CallID(rawValue: call), in: namespace, vault)
      else { continue }
      let old = (
        flags: attempts.integerIfPresent(row, 9), head: attempts.isNull(row, 10) ? nil : attempts.bytes(row, 10),
        message: attempts.isNull(row, 7) ? nil : attempts.text(row, 7)
      )
      let id = CallID(rawValue: call)
      let isIntact = (try? sums.check(stored, of: id)) != nil
      self.attempts.append(
        Attempt(call: call, new: new, old: old, sums: isIntact ? AttemptSums(new, of: id) : sums))
    }
  }

  /// The packed attempts, sealed by the newest key; nil if they are, or do not open.
  private static func past(_ bytes: [UInt8], of id: Int64, _ namespace: String, _ vault: Vault) -> [UInt8]? {
    guard let old = try? PackedAttempts.attempts(in: bytes) else { return nil }
    var isChanged = false
    let new = try? old.map { attempt in
      let new = try attempt.resealed(of: CallID(rawValue: id), in: namespace, vault)
      isChanged = isChanged || new != nil
      return new ?? attempt
    }
    return isChanged ? new.flatMap { PackedAttempts.packed($0) } : nil
  }

  /// Writes it. Returns false if some of it has to be read again.
  func isWritten(_ side: SideConnection) throws(StoreError) -> Bool {
    var statements = [PostgresStatement(LeaseQueries.lazily)]
    var wanted = 0
    if !requests.isEmpty {
      var set = PostgresStatement(Self.setRequests)
      set.add(requests.map(\.id))
      set.add(byteStrings: requests.map(\.old))
      set.add(byteStrings: requests.map(\.new.spec))
      set.add(byteStrings: requests.map { $0.hasBody ? $0.new.body : nil })
      set.add(requests.map(\.sums))
      statements.append(set)
      wanted += requests.count
    }
    if !past.isEmpty {
      for query in [Self.setLive, Self.setDone] {
        var set = PostgresStatement(query)
        set.add(past.map(\.id))
        set.add(byteStrings: past.map(\.old))
        set.add(byteStrings: past.map(\.new))
        statements.append(set)
      }
      wanted += past.count
    }
    if !attempts.isEmpty {
      var set = PostgresStatement(Self.setAttempts)
      set.add(attempts.map(\.call))
      set.add(attempts.map(\.new.number))
      set.add(attempts.map(\.old.flags))
      set.add(byteStrings: attempts.map(\.old.head))
      set.add(texts: attempts.map(\.old.message))
      set.add(attempts.map(\.new.response?.flags))
      set.add(byteStrings: attempts.map(\.new.response?.head))
      set.add(byteStrings: attempts.map(\.new.response?.body))
      set.add(texts: attempts.map(\.new.failure?.message))
      set.add(attempts.map(\.sums.sum))
      set.add(attempts.map(\.sums.response))
      statements.append(set)
      wanted += attempts.count
    }
    guard wanted > 0 else { return true }
    return try side.run(statements).dropFirst().reduce(0) { $0 + $1.count } == wanted
  }

  // MARK: Statements

  private static let rows = PostgresQuery(
    "rekey_rows", "read calls to encrypt them again",
    """
    SELECT r.id, r.spec, r.body, r.body_size, c.past, coalesce(n.name, 'default'), r.sums
    FROM requests r JOIN (SELECT id, namespace, past FROM live WHERE id = ANY($1::int8[])
      UNION ALL SELECT id, namespace, past FROM done WHERE id = ANY($1::int8[])) c ON c.id = r.id
    LEFT JOIN namespaces n ON n.id = c.namespace WHERE r.id = ANY($1::int8[])
    """)
  private static let attemptRows = PostgresQuery(
    "rekey_attempts", "read attempts to encrypt them again",
    "SELECT \(AttemptColumns.list(head: "true", body: "true")) FROM attempts a WHERE a.call_id = ANY($1::int8[])")
  private static let setRequests = PostgresQuery(
    "rekey_set_requests", "encrypt calls again",
    """
    WITH u AS (SELECT * FROM unnest($1::int8[], $2::bytea[], $3::bytea[], $4::bytea[], $5::int8[])
        AS u (id, old, spec, body, sums)),
      l AS (SELECT r.id FROM requests r JOIN u ON r.id = u.id AND r.spec = u.old FOR UPDATE OF r SKIP LOCKED)
    UPDATE requests r SET spec = u.spec, body = u.body, sums = u.sums FROM u
    WHERE r.id = u.id AND u.id IN (SELECT id FROM l) RETURNING 1
    """)
  private static let (setLive, setDone) = (setPast("live"), setPast("done"))

  private static func setPast(_ table: String) -> PostgresQuery {
    PostgresQuery(
      "rekey_set_\(table)", "encrypt attempts again",
      """
      WITH u AS (SELECT * FROM unnest($1::int8[], $2::bytea[], $3::bytea[]) AS u (id, old, past)),
        l AS (SELECT c.id FROM \(table) c JOIN u ON c.id = u.id AND c.past = u.old FOR UPDATE OF c SKIP LOCKED)
      UPDATE \(table) c SET past = u.past FROM u WHERE c.id = u.id AND u.id IN (SELECT id FROM l) RETURNING 1
      """)
  }

  private static let setAttempts = PostgresQuery(
    "rekey_set_attempts", "encrypt attempts again",
    """
    WITH u AS (SELECT * FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::bytea[], $5::text[], $6::int8[], $7::bytea[],
        $8::bytea[], $9::text[], $10::int8[], $11::int8[])
        AS u (call, number, old, old_head, old_message, truncated, head, body, message, sum, response_sum)),
      l AS (SELECT a.call_id, a.number FROM attempts a JOIN u ON a.call_id = u.call AND a.number = u.number
          AND a.truncated IS NOT DISTINCT FROM u.old AND a.response_head IS NOT DISTINCT FROM u.old_head
          AND a.failure_message IS NOT DISTINCT FROM u.old_message FOR UPDATE OF a SKIP LOCKED)
    UPDATE attempts a SET truncated = u.truncated, response_head = u.head, response_body = u.body, failure_message = u.message,
      sum = u.sum, response_sum = u.response_sum
    FROM u WHERE a.call_id = u.call AND a.number = u.number AND (u.call, u.number) IN (SELECT call_id, number FROM l)
    RETURNING 1
    """)
}

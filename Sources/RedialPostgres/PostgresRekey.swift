package import RedialModel
package import RedialStore

/// New data keys for a store in a database, as a command makes them. No instance works on it meanwhile: one that did not know of the
/// new keys would go on with those that are removed at the end.
package enum PostgresRekey {
  private static let setting = "rekey"
  /// How many calls are sealed again in one transaction.
  private static let batch: Int64 = 100

  /// Seals all that the store has again, from where an earlier run was ended.
  package static func run(_ settings: PostgresSettings, _ report: (RekeyProgress) -> Void) throws(StoreError) {
    try locked(settings) { side throws(StoreError) in
      let vault = settings.vault
      guard vault.canSeal else { throw Vault.refusal(of: "A new data key") }
      var (place, last) = try begin(side)
      var done = 0
      while true {
        var find = PostgresStatement(rows)
        find.add(place)
        find.add(last)
        find.add(batch)
        let found = try side.run([find])[0]
        if found.count == 0 { break }
        try StoredDataKeys.ensure(Set(found.map { found.text($0, 6) }), side)
        var statements: [PostgresStatement] = []
        for row in 0..<found.count { statements += try reseal(found, row, side) }
        place = found.integer(found.count - 1, 0)
        try run(statements + [put("\(place) \(last)")], side)
        done += found.count
        report(RekeyProgress(done: done, all: done + Int(found.integer(0, 7))))
      }
      try end(side)
    }
  }

  /// Erases the data keys of a namespace, and so all that they sealed.
  package static func erase(_ namespace: Namespace, _ settings: PostgresSettings) throws(StoreError) -> Int {
    var count = 0
    try locked(settings) { side throws(StoreError) in
      var erased: [StoredDocument] = []
      for document in try StoredDataKeys.all(side) {
        if let one = try StoredDataKey(document).erased(of: namespace) { erased.append(one) }
      }
      if !erased.isEmpty { try StoredDataKeys.replace(erased, side) }
      count = erased.count
    }
    return count
  }

  /// Works on a database that no instance uses.
  private static func locked(
    _ settings: PostgresSettings, _ body: (SideConnection) throws(StoreError) -> Void
  ) throws(StoreError) {
    let lock = try IdleDatabase(settings)
    defer { try? lock.execute(["ROLLBACK"], purpose: "end the change") }
    try PostgresSchema.openForReading(lock.connection, schema: settings.schema)
    try lock.beginToWait("begin to change the keys")
    try lock.lockOut()
    let side = SideConnection(settings)
    defer { side.close() }
    try settings.vault.load(try StoredDataKeys.all(side))
    try body(side)
  }

  /// New keys, and where to begin; or where an earlier run was ended.
  private static func begin(_ side: SideConnection) throws(StoreError) -> (place: Int64, last: Int64) {
    var find = PostgresStatement(ReadQueries.setting)
    find.add(text: setting)
    let rows = try side.run([find])[0]
    let numbers = rows.count == 0 ? [] : rows.text(0, 0).split(separator: " ").compactMap { Int64($0) }
    if numbers.count == 2 { return (numbers[0], numbers[1]) }
    let last = try side.run([PostgresStatement(highest)])[0].integer(0, 0)
    var statements = [put("0 \(last)")]
    for namespace in side.settings.vault.namespaces {
      if let key = try side.settings.vault.newKey(of: namespace, isNext: true) {
        statements.append(key.statement(insert))
      }
    }
    try run(statements, side)
    try side.settings.vault.load(try StoredDataKeys.all(side))
    return (0, last)
  }

  /// What is about no call, and the end of the old keys.
  private static func end(_ side: SideConnection) throws(StoreError) {
    let vault = side.settings.vault
    var statements: [PostgresStatement] = []
    for kind in StoredDocument.Kind.allCases where vault.seals(kind) {
      for stored in StoredDocument.all(kind, stored: try side.run([StoredDocument.findAll(kind)])[0]) {
        guard let plain = try? vault.opened(stored) else { continue }
        statements.append(vault.sealed(plain).statement(replace))
      }
    }
    for name in Vault.secrets where vault.seals(setting: name) {
      var find = PostgresStatement(ReadQueries.setting)
      find.add(text: name)
      let rows = try side.run([find])[0]
      guard rows.count == 1, let value = try? vault.opened(setting: name, rows.text(0, 0)) else { continue }
      statements.append(put(vault.sealed(setting: name, value), as: name))
    }
    let targets = try side.run([PostgresStatement(Self.targets)])[0]
    for row in 0..<targets.count {
      let key: TargetKey = targets.key(row, 1)
      let record = targets.withBytes(row, 2) { bytes in
        Result { () throws(StoreError) in try TargetRecord(bytes, of: key, in: side.settings.place, vault) }
      }
      guard let record = try? record.get(), vault.seals(record) else { continue }
      var set = PostgresStatement(setTarget)
      set.add(targets.integer(row, 0))
      set.add(bytes: try vault.sealed(record, of: key))
      statements.append(set)
    }
    for old in try StoredDataKeys.all(side) where try vault.isReplaced(old) {
      var removal = PostgresStatement(remove)
      removal.add(text: old.id)
      statements.append(removal)
    }
    var removal = PostgresStatement(removeSetting)
    removal.add(text: setting)
    try run(statements + [removal, ServiceStatements.raise([.dataKey])], side)
  }

  /// The statements that seal a call again. What does not open stays as it is.
  private static func reseal(
    _ rows: PostgresRows, _ row: Int, _ side: SideConnection
  ) throws(StoreError) -> [PostgresStatement] {
    let (vault, id, namespace) = (side.settings.vault, CallID(rawValue: rows.integer(row, 0)), rows.text(row, 6))
    let stored = StoredRequest(
      spec: rows.bytes(row, 1), body: rows.bytes(row, 2), inflatedSize: rows.integerIfPresent(row, 3))
    guard vault.sealsAll || stored.spec.first == SealedForm.marker else { return [] }
    var statements: [PostgresStatement] = []
    if let new = try? vault.resealed(stored, of: id, in: namespace) {
      var update = PostgresStatement(setRequest)
      update.add(id.rawValue)
      update.add(bytes: new.spec)
      update.add(bytes: rows.isNull(row, 2) ? nil : new.body)
      statements.append(update)
    }
    if !rows.isNull(row, 4),
      let past = try? PackedAttempts.attempts(in: rows.bytes(row, 4)).map({
        try $0.resealed(of: id, in: namespace, vault) ?? $0
      })
    {
      for query in [setLive, setDone] {
        var update = PostgresStatement(query)
        update.add(id.rawValue)
        update.add(bytes: PackedAttempts.packed(past))
        statements.append(update)
      }
    }
    guard rows.integer(row, 5) > 0 else { return statements }
    var find = PostgresStatement(attempts)
    find.add(id.rawValue)
    let found = try side.run([find])[0]
    for row in 0..<found.count {
      let attempt = StoredAttempt(
        number: found.integer(row, 0), startedAt: 0, duration: 0, outcome: 0, status: nil,
        failure: found.isNull(row, 4) ? nil : AttemptFailure(code: found.text(row, 4), message: found.text(row, 5)),
        decision: [], figures: [],
        response: found.integerIfPresent(row, 1).map {
          StoredAttempt.Response(
            flags: $0, head: found.bytes(row, 2), body: found.bytes(row, 3),
            inflatedSize: found.integerIfPresent(row, 6))
        })
      guard let new = try? attempt.resealed(of: id, in: namespace, vault) else { continue }
      var update = PostgresStatement(setAttempt)
      update.add(id.rawValue)
      update.add(new.number)
      update.add(new.response?.flags)
      update.add(bytes: new.response?.head)
      update.add(bytes: new.response?.body)
      update.add(text: new.failure?.message)
      statements.append(update)
    }
    return statements
  }

  private static func run(_ statements: [PostgresStatement], _ side: SideConnection) throws(StoreError) {
    _ = try side.run(statements)
  }

  private static func put(_ value: String, as name: String = setting) -> PostgresStatement {
    var put = PostgresStatement(putSetting)
    put.add(text: name)
    put.add(text: value)
    return put
  }

  // MARK: Statements

  private static let highest = PostgresQuery("rekey_last", "seal again", "SELECT coalesce(max(id), 0) FROM requests")
  private static let rows = PostgresQuery(
    "rekey_rows", "seal calls again",
    """
    SELECT r.id, r.spec, r.body, r.body_size, c.past, (SELECT count(*) FROM attempts a WHERE a.call_id = r.id), coalesce(n.name, 'default'),
      (SELECT count(*) FROM requests o WHERE o.id > $1::int8 AND o.id <= $2::int8) - $3::int8
    FROM requests r
    JOIN (SELECT id, namespace, past FROM live UNION ALL SELECT id, namespace, past FROM done) c ON c.id = r.id
    LEFT JOIN namespaces n ON n.id = c.namespace
    WHERE r.id > $1::int8 AND r.id <= $2::int8 ORDER BY r.id LIMIT $3::int8
    """)
  private static let attempts = PostgresQuery(
    "rekey_attempts", "seal attempts again",
    """
    SELECT number, truncated, response_head, response_body, failure_code, failure_message, response_body_size
    FROM attempts WHERE call_id = $1::int8
    """)
  private static let setRequest = PostgresQuery(
    "rekey_request", "seal a call again",
    "UPDATE requests SET spec = $2::bytea, body = $3::bytea WHERE id = $1::int8")
  private static let setLive = PostgresQuery(
    "rekey_live", "seal a call again", "UPDATE live SET past = $2::bytea WHERE id = $1::int8")
  private static let setDone = PostgresQuery(
    "rekey_done", "seal a call again", "UPDATE done SET past = $2::bytea WHERE id = $1::int8")
  private static let setAttempt = PostgresQuery(
    "rekey_attempt", "seal an attempt again",
    """
    UPDATE attempts SET truncated = $3::int8, response_head = $4::bytea, response_body = $5::bytea,
      failure_message = $6::text WHERE call_id = $1::int8 AND number = $2::int8
    """)
  private static let insert = PostgresQuery(
    "rekey_insert", "store a data key",
    "INSERT INTO documents (kind, id, content) VALUES ($1::text, $2::text, $3::bytea)")
  private static let replace = PostgresQuery(
    "rekey_document", "seal a document again",
    "UPDATE documents SET content = $3::bytea WHERE kind = $1::text AND id = $2::text")
  private static let remove = PostgresQuery(
    "rekey_remove", "remove a data key", "DELETE FROM documents WHERE kind = 'dataKey' AND id = $1::text")
  private static let targets = PostgresQuery(
    "rekey_targets", "read the targets", "SELECT id, key, record FROM targets WHERE record IS NOT NULL")
  private static let setTarget = PostgresQuery(
    "rekey_target", "seal a target again", "UPDATE targets SET record = $2::bytea WHERE id = $1::int8")
  private static let putSetting = PostgresQuery(
    "rekey_setting", "store the progress",
    """
    INSERT INTO settings (name, value) VALUES ($1::text, $2::text)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value
    """)
  private static let removeSetting = PostgresQuery(
    "rekey_end", "end the change of keys", "DELETE FROM settings WHERE name = $1::text")
}

internal import Glibc
package import RedialModel
package import RedialStore

/// New data keys for a store in a database, made by a command while instances work on it.
///
/// First the old keys are marked as replaced, after which no transaction can be made that has sealed something by them
/// (``StoredDataKeys/using(_:_:_:)``). So all that they have sealed is there from then on, and one pass over it is enough.
package enum PostgresRekey {
  private static let setting = "rekey"
  /// How many calls are sealed again in one transaction, and after how many bytes it ends.
  private static let batch: Int64 = 100
  private static let batchBytes: Int64 = 8 << 20
  /// How long rows may stay locked by others.
  private static let patience = Duration.seconds(60)

  /// Seals all that the store has again, from where an earlier run was ended.
  package static func run(_ settings: PostgresSettings, _ report: (RekeyProgress) -> Void) throws(StoreError) {
    guard settings.vault.canSeal else { throw Vault.refusal(of: "A new data key") }
    try locked(settings) { side throws(StoreError) in
      var (place, last) = try begin(side)
      let counts = try side.run([statement(count, place, last)])[0]
      var progress = RekeyProgress(done: Int(counts.integer(0, 1)), all: Int(counts.integer(0, 0)))
      while true {
        let sizes = try side.run([statement(next, place, last, batch)])[0]
        guard sizes.count > 0 else { break }
        var (ids, bytes) = ([Int64](), 0 as Int64)
        for row in 0..<sizes.count where bytes < batchBytes {
          ids.append(sizes.integer(row, 0))
          bytes += sizes.integer(row, 1)
        }
        let deadline = ContinuousClock.now + patience
        while try !RekeyBatch(ids, side).isWritten(side) {
          guard ContinuousClock.now < deadline else {
            throw StoreError(
              kind: .unavailable,
              message:
                "Calls in \(settings.place) stay locked by another transaction. Start the command again: it goes on.")
          }
          usleep(20_000)
        }
        place = ids[ids.count - 1]
        try side.run(lazily: put("\(place) \(last)"))
        progress.done += ids.count
        report(progress)
      }
      try resealOthers(side)
      try end(side)
    }
  }

  /// Erases the data keys of a namespace, and so all that they sealed.
  package static func erase(_ namespace: Namespace, _ settings: PostgresSettings) throws(StoreError) -> Int {
    var count = 0
    try locked(settings) { side throws(StoreError) in
      var erased: [StoredDocument] = []
      for document in try StoredDataKeys.all(side) {
        if let one = StoredDataKey.erasure(document, of: namespace) { erased.append(one) }
      }
      if !erased.isEmpty {
        _ = try side.run(
          StoredDataKeys.changes(erased) + (try note(AuditRecord.ofErasedKeys(of: namespace), side)) + news)
      }
      count = erased.count
    }
    return count
  }

  /// Keeps other commands away: those that change keys, and those that fill or copy a store.
  private static func locked(
    _ settings: PostgresSettings, _ body: (SideConnection) throws(StoreError) -> Void
  ) throws(StoreError) {
    let lock = try IdleDatabase(settings)
    defer { try? lock.execute(["ROLLBACK"], purpose: "end the change") }
    try PostgresSchema.openForReading(lock.connection, schema: settings.schema)
    try lock.beginToWait("begin to change the keys")
    try lock.lockForKeys()
    let side = SideConnection(settings)
    defer { side.close() }
    try settings.vault.load(try StoredDataKeys.all(side))
    StoredDataKeys.prepare(settings)
    try body(side)
  }

  /// New keys, and where to begin; or where an earlier run was ended.
  private static func begin(_ side: SideConnection) throws(StoreError) -> (place: Int64, last: Int64) {
    var find = PostgresStatement(ReadQueries.setting)
    find.add(text: setting)
    let rows = try side.run([find])[0]
    let numbers = rows.count == 0 ? [] : rows.text(0, 0).split(separator: " ").compactMap { Int64($0) }
    if numbers.count == 2 { return (numbers[0], numbers[1]) }
    let vault = side.settings.vault
    try StoredDataKeys.ensure([Vault.service], side)
    var replaced: [StoredDocument] = []
    for document in try StoredDataKeys.all(side) {
      // One that is damaged seals nothing more.
      if let old = (try? StoredDataKey(document))?.replaced { replaced.append(old) }
    }
    var new: [PostgresStatement] = []
    for namespace in vault.namespaces {
      if let key = try vault.newKey(of: namespace, isNext: true) { new.append(key.statement(insert)) }
    }
    _ = try side.run(
      StoredDataKeys.changes(replaced) + new + [PostgresStatement(putPlace)] + (try note(.ofNewKeys(), side)) + news)
    try vault.load(try StoredDataKeys.all(side))
    return try begin(side)
  }

  /// Seals what is about no call. What somebody has changed meanwhile is sealed by the new keys.
  private static func resealOthers(_ side: SideConnection) throws(StoreError) {
    let vault = side.settings.vault
    try StoredDataKeys.ensure([Vault.service], side)
    for kind in StoredDocument.Kind.allCases where vault.seals(kind) {
      for stored in StoredDocument.all(kind, stored: try side.run([StoredDocument.findAll(kind)])[0]).intact {
        guard let plain = try? vault.opened(stored) else { continue }
        var statement = vault.sealed(plain).statement(setDocument)
        statement.add(bytes: stored.content)
        try side.run(lazily: statement)
      }
    }
    for name in Vault.secrets where vault.seals(setting: name) {
      var find = PostgresStatement(ReadQueries.setting)
      find.add(text: name)
      let rows = try side.run([find])[0]
      guard rows.count == 1, let value = try? vault.opened(setting: name, rows.text(0, 0)) else { continue }
      var statement = PostgresStatement(setSetting)
      statement.add(text: name)
      statement.add(text: vault.sealed(setting: name, value))
      statement.add(text: rows.text(0, 0))
      try side.run(lazily: statement)
    }
    let targets = try side.run([PostgresStatement(Self.targets)])[0]
    for row in 0..<targets.count {
      let key: TargetKey = targets.key(row, 1)
      let record = targets.withBytes(row, 2) { bytes in
        Result { () throws(StoreError) in try TargetRecord(bytes, of: key, in: side.settings.place, vault) }
      }
      guard let record = try? record.get(), vault.seals(record) else { continue }
      try StoredDataKeys.ensure([key.namespace.name], side)
      var statement = PostgresStatement(setTarget)
      statement.add(targets.integer(row, 0))
      statement.add(bytes: try vault.sealed(record, of: key))
      statement.add(bytes: targets.bytes(row, 2))
      try side.run(lazily: statement)
    }
  }

  /// Removes the old keys. Unlike all before, this is on disk when it has been made, and so is that.
  private static func end(_ side: SideConnection) throws(StoreError) {
    var statements: [PostgresStatement] = []
    for old in try StoredDataKeys.all(side) where side.settings.vault.isReplaced(old) {
      var removal = PostgresStatement(remove)
      removal.add(text: old.id)
      statements.append(removal)
    }
    var removal = PostgresStatement(removeSetting)
    removal.add(text: setting)
    _ = try side.run(statements + [removal] + news)
  }

  /// Puts a record into the audit log. What it is sealed by cannot be replaced meanwhile.
  private static func note(_ record: AuditRecord, _ side: SideConnection) throws(StoreError) -> [PostgresStatement] {
    try StoredDataKeys.ensure([Vault.service], side)
    return ServiceStatements.statements(.add(record.document), CommitStatements.Numbers(), side.settings.vault)
  }

  /// Instances read the data keys again.
  private static var news: [PostgresStatement] {
    [ServiceStatements.raise([.dataKey]), PostgresStatement(HeartbeatQueries.tellNews)]
  }

  private static func put(_ value: String) -> PostgresStatement {
    var put = PostgresStatement(setPlace)
    put.add(text: value)
    return put
  }

  private static func statement(_ query: PostgresQuery, _ numbers: Int64...) -> PostgresStatement {
    var statement = PostgresStatement(query)
    for number in numbers { statement.add(number) }
    return statement
  }

  // MARK: Statements

  private static let count = PostgresQuery(
    "rekey_count", "count the calls",
    "SELECT count(*), count(*) FILTER (WHERE id <= $1::int8) FROM requests WHERE id <= $2::int8")
  private static let next = PostgresQuery(
    "rekey_next", "find calls to encrypt again",
    """
    SELECT id, coalesce(octet_length(body), 0)
      + coalesce((SELECT sum(octet_length(response_body))::int8 FROM attempts WHERE call_id = r.id), 0)
    FROM requests r WHERE id > $1::int8 AND id <= $2::int8 ORDER BY id LIMIT $3::int8
    """)
  private static let insert = PostgresQuery(
    "rekey_insert", "store a data key",
    "INSERT INTO documents (kind, id, content, sum) VALUES ($1::text, $2::text, $3::bytea, $4::int8)")
  private static let remove = PostgresQuery(
    "rekey_remove", "remove a data key", "DELETE FROM documents WHERE kind = 'dataKey' AND id = $1::text")
  private static let setDocument = PostgresQuery(
    "rekey_document", "encrypt a document again",
    """
    UPDATE documents SET content = $3::bytea, sum = $4::int8 WHERE kind = $1::text AND id = $2::text AND content = $5::bytea
    """)
  private static let targets = PostgresQuery(
    "rekey_targets", "read the targets", "SELECT id, key, record FROM targets WHERE record IS NOT NULL")
  private static let setTarget = PostgresQuery(
    "rekey_target", "encrypt a target again",
    "UPDATE targets SET record = $2::bytea WHERE id = $1::int8 AND record = $3::bytea")
  private static let setSetting = PostgresQuery(
    "rekey_setting", "encrypt a setting again",
    "UPDATE settings SET value = $2::text WHERE name = $1::text AND value = $3::text")
  private static let putPlace = PostgresQuery(
    "rekey_begin", "begin to encrypt again",
    "INSERT INTO settings (name, value) SELECT '\(setting)', '0 ' || coalesce(max(id), 0) FROM requests")
  private static let setPlace = PostgresQuery(
    "rekey_place", "store the progress", "UPDATE settings SET value = $1::text WHERE name = '\(setting)'")
  private static let removeSetting = PostgresQuery(
    "rekey_end", "end the change of keys", "DELETE FROM settings WHERE name = $1::text")
}

extension SideConnection {
  /// Makes a change that need not be on disk when it is made.
  func run(lazily statement: PostgresStatement) throws(StoreError) {
    _ = try run([PostgresStatement(LeaseQueries.lazily), statement])
  }
}

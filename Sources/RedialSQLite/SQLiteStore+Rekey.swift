internal import Glibc
package import RedialModel
package import RedialStore

/// New data keys for all that is sealed, in steps between commits. After each step the place is in the store, so that it goes on
/// there after a crash.
extension SQLiteStore {
  /// The setting with the place: the last call that was sealed again, and the last one there was at the beginning.
  package static let rekeySetting = "rekey"
  /// The file beside a store by which a command asks the service for new keys, or to erase those of the namespace that it names.
  package static func rekeyRequest(of path: String) -> String { path + ".rekey" }
  /// The longest request: no name of a namespace is so long.
  private static let longestRequest = 1024
  /// How many calls are sealed again in one transaction.
  private static let rekeyBatch: Int64 = 100
  /// After so many bytes a transaction ends.
  private static let rekeyBytes = 8 << 20

  /// Begins, unless it has begun.
  ///
  /// - Parameter user: Who wants it; nil for the user of this process.
  package func beginRekey(for user: UInt32? = nil) throws(StoreError) {
    guard vault.canSeal else { throw Vault.refusal(of: "A new data key") }
    try transaction { () throws(StoreError) in
      guard try service.setting(Self.rekeySetting) == nil else { return }
      // The log has what the old keys have sealed.
      try log.empty(into: calls)
      for namespace in vault.namespaces {
        guard let key = try vault.newKey(of: namespace, isNext: true) else { continue }
        try service.documents.put(key, isNew: true)
        try vault.add(key)
      }
      try service.documents.put(AuditRecord.ofNewKeys(user: user).document, isNew: true)
      try service.set(Self.rekeySetting, to: "0 \(try search.lastID().rawValue)")
    }
  }

  /// Does a step.
  ///
  /// - Returns: How far it is; nil if nothing is to be done.
  package func rekeyStep() throws(StoreError) -> RekeyProgress? {
    guard let text = try service.setting(Self.rekeySetting) else { return nil }
    let numbers = text.split(separator: " ").compactMap { Int64($0) }
    guard numbers.count == 2 else {
      throw StoreError(
        kind: .corrupt, message: "The setting rekey in \(file.path) is damaged. Remove it, and try again.")
    }
    let (place, last) = (numbers[0], numbers[1])
    if rekeyRows == nil { rekeyRows = try RekeyRows(on: file.connection, service.documents) }
    guard let rows = rekeyRows else { return nil }
    let next = try transaction { () throws(StoreError) -> Int64? in
      let next = try rows.reseal(after: place, upTo: last, limit: Self.rekeyBatch, bytes: Self.rekeyBytes)
      if let next {
        try service.set(Self.rekeySetting, to: "\(next) \(last)")
      } else {
        try service.reseal()
        try targets.reseal()
        for old in try service.documents.all(.dataKey) where vault.isReplaced(old) {
          try service.documents.remove(.dataKey, old.id)
        }
        try service.removeSetting(Self.rekeySetting)
      }
      return next
    }
    guard let next else {
      try vault.load(service.documents.all(.dataKey))
      return nil
    }
    let count = try rows.counts(upTo: next, last)
    return RekeyProgress(done: count.done, all: count.all)
  }

  /// Does a step if one has begun, or if a command asks for it. Returns whether more is to be done.
  func rekeyIfWanted() throws(StoreError) -> Bool {
    guard vault.canSeal else { return false }
    let request = Self.rekeyRequest(of: file.path)
    var status = stat()
    if stat(request, &status) == 0 {
      if let name = Self.firstLine(of: request), let namespace = Namespace(name) {
        // First: if it was there after a crash, keys that were made since would be erased, too.
        unlink(request)
        _ = try eraseKeys(of: namespace, for: status.st_uid)
      } else {
        try beginRekey(for: status.st_uid)
        unlink(request)
      }
    }
    return try rekeyStep() != nil
  }

  private static func firstLine(of path: String) -> String? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { Glibc.close(file) }
    var bytes = [UInt8](repeating: 0, count: longestRequest)
    let count = Glibc.read(file, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }

  /// Erases the data keys of a namespace, and so all that they sealed.
  ///
  /// - Parameter user: Who wants it; nil for the user of this process.
  /// - Returns: How many keys there were.
  package func eraseKeys(of namespace: Namespace, for user: UInt32? = nil) throws(StoreError) -> Int {
    let count = try transaction { () throws(StoreError) in
      try log.empty(into: calls)
      var count = 0
      for document in try service.documents.all(.dataKey) {
        guard let erased = StoredDataKey.erasure(document, of: namespace) else { continue }
        try service.documents.put(erased, isNew: false)
        count += 1
      }
      if count > 0 {
        try service.documents.put(AuditRecord.ofErasedKeys(of: namespace, user: user).document, isNew: true)
      }
      return count
    }
    try vault.load(service.documents.all(.dataKey))
    return count
  }
}

/// The rows of calls that are sealed again.
struct RekeyRows {
  private let connection: SQLiteConnection
  private let documents: DocumentTable
  private let ids: SQLiteStatement
  private let select: SQLiteStatement
  private let update: SQLiteStatement
  private let selectAttempts: SQLiteStatement
  private let updateAttempt: SQLiteStatement
  private let count: SQLiteStatement

  init(on connection: SQLiteConnection, _ documents: DocumentTable) throws(StoreError) {
    self.connection = connection
    self.documents = documents
    ids = try connection.prepare(
      "seal calls again", "SELECT id FROM requests WHERE id > ?1 AND id <= ?2 ORDER BY id LIMIT ?3")
    select = try connection.prepare(
      "seal a call again",
      """
      SELECT r.spec, r.body, r.body_size, r.past, coalesce(n.name, 'default'), r.sums FROM requests r
      JOIN calls c ON c.id = r.id LEFT JOIN namespaces n ON n.id = c.namespace WHERE r.id = ?1
      """)
    update = try connection.prepare(
      "seal a call again", "UPDATE requests SET spec = ?2, body = ?3, past = ?4, sums = ?5 WHERE id = ?1")
    selectAttempts = try connection.prepare(
      "seal a call's attempts again",
      """
      SELECT \(AttemptRows.columns(head: "1", body: "1")) FROM attempts WHERE call_id = ?1
      """)
    updateAttempt = try connection.prepare(
      "seal an attempt again",
      """
      UPDATE attempts SET truncated = ?3, response_head = ?4, response_body = ?5, failure_message = ?6, sum = ?7,
        response_sum = ?8
      WHERE call_id = ?1 AND number = ?2
      """)
    count = try connection.prepare("count the calls", "SELECT count(*), total(id <= ?1) FROM requests WHERE id <= ?2")
  }

  func counts(upTo place: Int64, _ last: Int64) throws(StoreError) -> (all: Int, done: Int) {
    count.bind(1, place)
    count.bind(2, last)
    let found = try count.first { row throws(StoreError) in (Int(row.integer(0)), Int(row.integer(1))) }
    return found ?? (0, 0)
  }

  /// Seals some calls again. Returns the last of them; nil if there is none.
  func reseal(after place: Int64, upTo last: Int64, limit: Int64, bytes: Int) throws(StoreError) -> Int64? {
    ids.bind(1, place)
    ids.bind(2, last)
    ids.bind(3, limit)
    var (done, size): (Int64?, Int) = (nil, 0)
    for id in try ids.rows({ row throws(StoreError) in row.integer(0) }) where size < bytes {
      size += try reseal(CallID(rawValue: id))
      done = id
    }
    return done
  }

  /// Seals a call again. What does not open stays as it is. Returns about how many bytes that were.
  private func reseal(_ id: CallID) throws(StoreError) -> Int {
    let vault = connection.vault
    select.bind(1, id.rawValue)
    let found = try select.first { row throws(StoreError) in
      (
        request: StoredRequest(spec: row.bytes(0), body: row.bytes(1), inflatedSize: row.integerIfPresent(2)),
        hasBody: !row.isNull(1), past: row.isNull(3) ? nil : row.bytes(3), namespace: row.text(4),
        sums: row.integerIfPresent(5)
      )
    }
    guard let found, vault.sealsAll || found.request.spec.first == SealedForm.marker else { return 0 }
    try documents.ensureKey(of: found.namespace)
    let request = try? vault.resealed(found.request, of: id, in: found.namespace)
    let past = try? found.past.flatMap { past in
      try PackedAttempts.packed(
        PackedAttempts.attempts(in: past).map { try $0.resealed(of: id, in: found.namespace, vault) ?? $0 })
    }
    if request != nil || past != nil {
      let new = request ?? found.request
      update.bind(1, id.rawValue)
      update.bind(2, copying: new.spec)
      if found.hasBody { update.bind(3, copying: new.body) } else { update.bind(3, nil as Int64?) }
      if let past = past ?? found.past { update.bind(4, copying: past) } else { update.bind(4, nil as Int64?) }
      // A wrong checksum stays, or it would not be known any more that the call is damaged.
      let isIntact = found.sums == nil || found.sums == found.request.sums(of: id).column
      update.bind(5, isIntact ? new.sums(of: id).column : found.sums)
      try update.run()
    }
    return found.request.body.count + (try resealAttempts(of: id, in: found.namespace))
  }

  private func resealAttempts(of id: CallID, in namespace: String) throws(StoreError) -> Int {
    selectAttempts.bind(1, id.rawValue)
    let attempts = try selectAttempts.rows { row throws(StoreError) in AttemptRows.read(row) }
    for (attempt, old) in attempts {
      guard let new = try? attempt.resealed(of: id, in: namespace, connection.vault) else { continue }
      updateAttempt.bind(1, id.rawValue)
      updateAttempt.bind(2, new.number)
      updateAttempt.bind(3, new.response?.flags)
      if let response = new.response {
        updateAttempt.bind(4, copying: response.head)
        updateAttempt.bind(5, copying: response.body)
      } else {
        updateAttempt.bind(4, nil as Int64?)
        updateAttempt.bind(5, nil as Int64?)
      }
      updateAttempt.bind(6, text: new.failure?.message)
      let sums = (try? old.check(attempt, of: id)) == nil ? old : AttemptSums(new, of: id)
      updateAttempt.bind(7, sums.sum)
      updateAttempt.bind(8, sums.response)
      try updateAttempt.run()
    }
    return attempts.reduce(0) { $0 + ($1.attempt.response?.body.count ?? 0) }
  }
}

internal import RedialCore
internal import RedialModel
internal import RedialStore

/// What a file has besides calls.
struct StoredItems {
  private let settings: SQLiteStatement
  private let documents: SQLiteStatement
  private let targets: SQLiteStatement
  private let counts: SQLiteStatement
  private let vault: Vault
  private let place: String

  /// Prepares the statements.
  init(on connection: SQLiteConnection) throws(StoreError) {
    place = connection.path
    vault = connection.vault
    settings = try connection.prepare(
      "read the settings", "SELECT name, value FROM settings WHERE name <> '\(PayloadPlace.settingName)'")
    documents = try connection.prepare("read the documents", "SELECT kind, id, content, sum FROM documents")
    targets = try connection.prepare(
      "read the targets", "SELECT key, record FROM targets WHERE record IS NOT NULL")
    counts = try connection.prepare(
      "read the statistics",
      "SELECT n.name, s.step, s.start, s.counts FROM statistics s JOIN namespaces n ON n.id = s.namespace")
  }

  /// All of it, ordered.
  ///
  /// - Parameter damage: Is called for what cannot be read.
  func all(damage: (StoreError) -> Void) throws(StoreError) -> [StoreItem] {
    var all: [StoreItem] = []
    for kind in StoreItem.Kind.allCases {
      do throws(StoreError) {
        try statement(kind).each { row throws(StoreError) in
          do throws(StoreError) {
            if let item = try item(kind, row) { all.append(item) }
          } catch {
            damage(Self.error("One of the \(kind.title) is missing, because its row is damaged: \(error.message)"))
          }
          return true
        }
      } catch {
        guard error.kind == .corrupt else { throw error }
        damage(Self.error("Some or all \(kind.title) are missing: \(error.message)"))
      }
    }
    return all.ordered()
  }

  private func statement(_ kind: StoreItem.Kind) -> SQLiteStatement {
    switch kind {
    case .setting: settings
    case .document: documents
    case .target: targets
    case .counts: counts
    }
  }

  /// What a row has; nil for what does not travel.
  private func item(_ kind: StoreItem.Kind, _ row: SQLiteStatement) throws(StoreError) -> StoreItem? {
    switch kind {
    case .setting: return .travelling(row.text(0), try vault.opened(setting: row.text(0), row.text(1)))
    case .document:
      guard let kind = StoredDocument.Kind(rawValue: row.text(0)) else {
        throw Self.error("\(row.text(0)) is no kind of document.")
      }
      return .travelling(
        try vault.opened(
          StoredDocument.Row(StoredDocument(kind, id: row.text(1), row.bytes(2)), sum: row.integerIfPresent(3))
            .checked()))
    case .target:
      let key: TargetKey = row.key(0)
      let record = row.withBytes(1) { bytes in
        Result { () throws(StoreError) in try TargetRecord(bytes, of: key, in: place, vault) }
      }
      return .travelling(key, try record.get())
    case .counts:
      let numbers = StatisticsTable.numbers(row.text(3))
      guard let namespace = Namespace(row.text(0)), let step = StatisticsStep(rawValue: row.integer(1)), let numbers
      else {
        throw Self.error("A row of the statistics is not readable.")
      }
      return .travelling(
        StoredCounts(
          namespace: namespace, step: step, start: Timestamp(microseconds: row.integer(2)), numbers: numbers))
    }
  }

  private static func error(_ message: String) -> StoreError { StoreError(kind: .corrupt, message: message) }
}

extension SQLiteStore {
  /// Puts in what is about no call, see ``ArchiveDestination/insert(_:)``.
  func insert(_ items: [StoreItem]) throws(StoreError) -> Int {
    try transaction { () throws(StoreError) in
      var count = 0
      for item in items where try !has(item) {
        try put(item)
        count += 1
      }
      return count
    }
  }

  /// Whether there is something under its name.
  private func has(_ item: StoreItem) throws(StoreError) -> Bool {
    switch item {
    case .setting(Retention.goneBy, let value):
      // The later time counts: webhooks about calls that either store has removed are no faults.
      try service.setting(Retention.goneBy).flatMap { Int64($0) } ?? .min >= Int64(value) ?? .min
    case .setting(let name, _): try service.setting(name) != nil
    case .document(let document): try service.documents.one(document.kind, document.id) != nil
    case .target(let key, _): try targets.hasRecord(key)
    case .counts(let counts):
      try service.statistics.has(counts.step, counts.start, namespace: try namespaces.intern(counts.namespace))
    }
  }

  private func put(_ item: StoreItem) throws(StoreError) {
    switch item {
    case .setting(let name, let value): try service.set(name, to: value)
    case .document(let document): try service.documents.put(document, isNew: true)
    case .target(let key, let record): try targets.set(record, of: key)
    case .counts(let counts):
      try service.statistics.put(
        counts.numbers, counts.step, counts.start, namespace: try namespaces.intern(counts.namespace))
    }
  }
}

internal import Glibc
internal import RedialCore
package import RedialModel
package import RedialStore

/// A file that gets the contents of another store.
package final class SQLiteDestination: StoreDestination {
  private let file: SQLiteFile
  private let contents: SQLiteContents
  private let settings: SettingTable
  private let removeMark: SQLiteStatement
  private let insertions: [ContentSection: SQLiteStatement]

  /// Opens the file, which is created if it does not exist.
  ///
  /// - Throws: `inUse` if a service uses it; `unavailable` if it is a store of an older version, which is not changed.
  package init(path: String) throws(StoreError) {
    try WriteAheadFile.check(path)
    if Self.size(of: path) > 0 { try Self.checkVersion(path) }
    file = try SQLiteFile(
      path: path, isShared: false, reserveBytes: nil, notices: StoreNotices(), syncFailed: { _ in })
    let connection = file.connection
    contents = try SQLiteContents(on: connection)
    settings = try SettingTable(on: connection)
    removeMark = try connection.prepare("end the migration", "DELETE FROM settings WHERE name = ?1")
    var insertions: [ContentSection: SQLiteStatement] = [:]
    for section in ContentSection.allCases {
      insertions[section] = try connection.prepare("copy a row", Self.insertion(section))
    }
    self.insertions = insertions
    try file.begin { () throws(StoreError) in }
  }

  package var place: String { file.path }

  /// What reads its rows.
  package var reader: any ContentReader { contents }

  // MARK: Writing

  /// How far an interrupted migration came.
  package func mark() throws(StoreError) -> MigrationMark? {
    guard let text = try settings.value(of: MigrationMark.settingName) else { return nil }
    return try MigrationMark(text, at: place, orUse: "another file")
  }

  /// Stores the first mark.
  package func begin(_ mark: MigrationMark) throws(StoreError) {
    try transaction { () throws(StoreError) in try settings.set(MigrationMark.settingName, to: mark.text) }
  }

  /// Adds rows, and replaces the mark. The lock on the file keeps others away.
  package func add(
    _ rows: [ContentRow], to section: ContentSection, from old: MigrationMark, to new: MigrationMark
  ) throws(StoreError) {
    try transaction { () throws(StoreError) in
      for row in rows { try insert(row, section) }
      try settings.set(MigrationMark.settingName, to: new.text)
    }
  }

  /// Removes the mark, and leaves the file as a process leaves it that dies: calls may be in its memory, so it has all
  /// leases. A webhook about a call that the source has removed is no fault here.
  package func finish(_ mark: MigrationMark) throws(StoreError) {
    try transaction { () throws(StoreError) in
      try recordRemovedSubjects()
      _ = try SessionTable(on: file.connection).takeAll()
      removeMark.bind(1, text: MigrationMark.settingName)
      try removeMark.run()
    }
    file.moveLog()
    file.waitForCheckpoint()
  }

  package func close() { file.close() }

  private func insert(_ row: ContentRow, _ section: ContentSection) throws(StoreError) {
    guard let statement = insertions[section] else { return }
    for (index, value) in row.enumerated() { statement.bind(Int32(index + 1), value) }
    if section == .targets {
      let key = String(decoding: row[section.place(of: "key")].content ?? [], as: UTF8.self)
      statement.bind(Int32(row.count + 1), Int64(ShardSet.shard(of: TargetKey(qualified: key))))
    }
    try statement.run()
  }

  private func recordRemovedSubjects() throws(StoreError) {
    let (calls, eviction) = (
      try CallRows(on: file.connection, bodies: true), try Eviction(on: file.connection, settings: settings)
    )
    let unfinished = try file.connection.prepare(
      "look for webhooks",
      "SELECT id FROM calls WHERE kind = \(CallKind.webhook.rawValue) AND state <= \(StateColumns.lastUnfinished)")
    for id in try unfinished.rows({ row throws(StoreError) in CallID(rawValue: row.integer(0)) }) {
      guard case .intact(let webhook)? = try calls.call(id), let subject = WebhookSubject.id(in: webhook.body),
        try !calls.contains(subject)
      else { continue }
      try eviction.recordGone(by: webhook.createdAt)
    }
  }

  private func transaction(_ body: () throws(StoreError) -> Void) throws(StoreError) {
    do throws(StoreError) {
      try file.transaction(body)
    } catch {
      file.didRollBack(error)
      throw error
    }
    file.didCommit()
  }

  private static func insertion(_ section: ContentSection) -> String {
    var names = section.columns.map { section.stored($0) }
    if section == .targets { names.append("shard") }
    let places = (1...names.count).map { "?\($0)" }.joined(separator: ", ")
    // Only the default namespace is there already.
    let or = section == .namespaces ? "OR IGNORE " : ""
    return "INSERT \(or)INTO \(section.table) (\(names.joined(separator: ", "))) VALUES (\(places))"
  }

  /// Throws unless a file is a store of this version, before anything is changed in it.
  private static func checkVersion(_ path: String) throws(StoreError) {
    // A process that was killed while it made the file has left a journal. Only a writer can undo what that says, and then
    // the file is as it was before.
    let hasJournal = access(path + "-journal", F_OK) == 0
    let connection = try SQLiteConnection(path: path, role: hasJournal ? .writer : .reader)
    defer { connection.close() }
    connection.keepLogOnClose()
    if try Schema.isEmpty(connection) { return }
    try Schema.openForReading(connection)
  }

  private static func size(of path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }
}

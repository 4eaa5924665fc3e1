internal import RedialJSON
package import RedialModel

/// Finds what a store has besides calls that the service cannot read.
package struct RecordFindings {
  package private(set) var unreadable = StoreFinding(check: .unreadable)
  private var keys: [StoredDocument] = []
  private var isMarked = false
  /// The last commits that a failover has lost; nil if there are none.
  package private(set) var lostCommits: LostCommits?
  private let forms: DocumentForms
  private let areTables: Bool

  /// Nothing found yet.
  ///
  /// - Parameter areTables: Whether policies and operations have tables of their own in the store as it is on the disk, and
  ///   are documents only in an upgrade that is not committed.
  package init(_ forms: DocumentForms, areTables: Bool) {
    (self.forms, self.areTables) = (forms, areTables)
  }

  /// Reads a document as it is stored.
  ///
  /// - Throws: If it is not known whether it can be read.
  package mutating func check(_ row: StoredDocument.Row, _ vault: Vault) throws(StoreError) {
    let stored = row.document
    let table =
      switch stored.kind {
      case .policy where areTables: "policies"
      case .operation where areTables: "operations"
      default: "documents"
      }
    let place = "the \(stored.kind.rawValue) \(stored.id) in the table \(table)"
    do throws(StoreError) {
      let document = try vault.opened(row.checked())
      if document.kind == .apiKey { keys.append(document) }
      if let fault = forms.fault(document) {
        unreadable.add("\(place): \(document.content.withUnsafeBufferPointer { fault.clause(in: $0) })")
      }
    } catch {
      guard error.kind == .corrupt else { throw error }
      unreadable.add("\(place): \(error.message)")
    }
  }

  /// Reads the record of a target as it is stored.
  ///
  /// - Throws: If it is not known whether it can be read.
  package mutating func check(
    _ bytes: UnsafeBufferPointer<UInt8>, of key: TargetKey, _ vault: Vault
  ) throws(StoreError) {
    let place = "the target \(key) in the table targets"
    let plain: [UInt8]
    do throws(SealDamage) {
      plain = try SealedForm.isSealed(bytes) ? vault.open(bytes, .target(key.text)) : Array(bytes)
    } catch {
      return try addUnlessUnknown(error.error(place))
    }
    plain.withUnsafeBufferPointer { plain in
      do throws(JSONError) {
        try TargetRecord.check(plain)
      } catch {
        unreadable.add("\(place): \(error.clause(in: plain))")
      }
    }
  }

  /// Reads the value of a setting as it is stored.
  ///
  /// - Throws: If it is not known whether it can be read.
  package mutating func check(setting name: String, _ value: String, _ vault: Vault) throws(StoreError) {
    if name == MigrationMark.settingName { isMarked = true }
    if name == LostCommits.settingName { lostCommits = LostCommits(value) }
    if forms.unread.contains(name) { return }
    do throws(StoreError) {
      let text = try vault.opened(setting: name, value)
      if let fault = forms.settingFault(name, text) {
        unreadable.add("the setting \(name) in the table settings: \(fault)")
      }
    } catch {
      try addUnlessUnknown(error)
    }
  }

  /// Counts a damaged idempotency key, or retry.
  package mutating func add(_ damage: StoreError) { unreadable.add(damage.message) }

  /// Why a service does not start on the store, although it can read all of it; nil if it does.
  func refusal(at place: String) -> StoreError? {
    guard let objection = forms.objection else { return nil }
    if isMarked { return MigrationMark.refusal(of: place) }
    return objection(keys).map { StoreError(kind: .unavailable, message: $0) }
  }

  private mutating func addUnlessUnknown(_ error: StoreError) throws(StoreError) {
    guard error.kind == .corrupt else { throw error }
    unreadable.add(error.message)
  }
}

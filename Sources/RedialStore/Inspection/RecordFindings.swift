package import RedialJSON
package import RedialModel

/// How the content of documents is read. Some kinds are known to the service alone, so it says how when it opens a store.
package struct DocumentForms: Sendable {
  /// Why a document cannot be read, as ``StoredDocument/check()`` says it; nil if it can.
  package let fault: @Sendable (StoredDocument) -> JSONError?

  /// Creates forms.
  package init(fault: @escaping @Sendable (StoredDocument) -> JSONError?) {
    self.fault = fault
  }

  /// The kinds that stores know themselves.
  package static let ofStores = DocumentForms { document in fault { () throws(JSONError) in try document.check() } }

  /// What a closure throws that reads something.
  package static func fault(_ read: () throws(JSONError) -> Void) -> JSONError? {
    do throws(JSONError) {
      try read()
      return nil
    } catch {
      return error
    }
  }
}

/// Finds what a store has besides calls that the service cannot read.
package struct RecordFindings {
  package private(set) var unreadable = StoreFinding(check: .unreadable)
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
  package mutating func check(_ stored: StoredDocument, _ vault: Vault) throws(StoreError) {
    let table =
      switch stored.kind {
      case .policy where areTables: "policies"
      case .operation where areTables: "operations"
      default: "documents"
      }
    let place = "the \(stored.kind.rawValue) \(stored.id) in the table \(table)"
    do throws(StoreError) {
      let document = try vault.opened(stored)
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
      return try add(error.error(place))
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
    do throws(StoreError) { _ = try vault.opened(setting: name, value) } catch { try add(error) }
  }

  private mutating func add(_ error: StoreError) throws(StoreError) {
    guard error.kind == .corrupt else { throw error }
    unreadable.add(error.message)
  }
}

extension StoreError {
  /// Why a store is not upgraded; nil if all of it can be read.
  ///
  /// - Parameters:
  ///   - findings: What cannot be read.
  ///   - place: The store.
  ///   - versions: Those of the schema.
  package static func refusal(
    for findings: [StoreFinding], at place: String, from old: Int64, to new: Int64
  ) -> StoreError? {
    let count = findings.reduce(0) { $0 + $1.count }
    guard count > 0 else { return nil }
    let examples = findings.flatMap(\.examples).prefix(StoreFinding.maximumExamples)
    let more = count > examples.count ? "; and \(count - examples.count) more" : ""
    return StoreError(
      kind: .corrupt,
      message: "\(place) was not upgraded from schema \(old) to \(new), because this version of Redial cannot read "
        + "\(count == 1 ? "one thing" : "\(count) things") in it: \(examples.joined(separator: "; "))\(more). Nothing was "
        + "changed, so the version that made it still works with it: remove or replace there what is named. Or have that "
        + "version export everything, and import it with this one into a new store: it leaves out what it cannot read, and "
        + "says so.")
  }
}

extension StoreWarning {
  /// What was checked is what an upgrade of the store would make.
  package static func older(_ old: Int64, than new: Int64) -> StoreWarning {
    StoreWarning(
      .older,
      "the store is of schema \(old); a service of this version upgrades it to \(new) when it starts, which was tried "
        + "for this check and undone")
  }
}

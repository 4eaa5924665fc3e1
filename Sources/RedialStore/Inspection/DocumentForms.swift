package import RedialJSON
package import RedialModel

/// How a service reads what a store has besides calls. Some kinds are known to the service alone, so it says how when it
/// opens a store.
package struct DocumentForms: Sendable {
  /// Why a document cannot be read, as ``StoredDocument/check()`` says it; nil if it can.
  package let fault: @Sendable (StoredDocument) -> JSONError?
  /// Why the service cannot use the value of a setting, as a clause; nil if it can.
  package let settingFault: @Sendable (_ name: String, _ value: String) -> String?
  /// Settings that the service does not read, because its own configuration has them.
  package var unread: Set<String> = []
  /// Why a service does not start with these API keys, as a sentence; nil if it does. Commands have none.
  package var objection: (@Sendable (_ keys: [StoredDocument]) -> String?)?

  /// Creates forms.
  package init(
    fault: @escaping @Sendable (StoredDocument) -> JSONError?,
    settingFault: @escaping @Sendable (_ name: String, _ value: String) -> String? = { _, _ in nil }
  ) {
    (self.fault, self.settingFault) = (fault, settingFault)
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

  /// Throws what would refuse a start on a new store, before anything of it is made.
  package func checkNew(_ vault: Vault) throws(StoreError) {
    if let message = objection?([]) { throw StoreError(kind: .unavailable, message: message) }
    try vault.proveKey()
  }
}

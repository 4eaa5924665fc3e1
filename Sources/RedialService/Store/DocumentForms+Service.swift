internal import RedialJSON
internal import RedialModel
package import RedialStore

extension DocumentForms {
  /// All kinds: those that stores know, and those that only the service does.
  package static let ofService = DocumentForms { document in
    switch document.kind {
    case .apiKey: fault(of: document, as: APIKey.self)
    case .webhookEndpoint: fault(of: document, as: WebhookEndpoint.self)
    case .accessToken: fault(of: document, as: SharedToken.self)
    default: ofStores.fault(document)
    }
  } settingFault: { name, value in
    Vault.secrets.contains(name) && WebhookSecret(value) == nil
      ? "it is no secret (whsec_ and the base 64 of 24 to 64 bytes)" : nil
  }

  private static func fault<Record: StoredRecord>(of document: StoredDocument, as form: Record.Type) -> JSONError? {
    fault { () throws(JSONError) in
      try document.content.withUnsafeBufferPointer { bytes in
        Result { () throws(JSONError) in try form.check(bytes) }
      }.get()
    }
  }
}

internal import RedialModel
internal import RedialStore

extension NamedCredentials {
  func load(from store: any DocumentStore) throws(StoreError) {
    var stored: [Credential] = []
    for document in try store.documents(.credential) {
      guard let credential = Credential(document: document.content) else {
        throw StoreError(
          kind: .corrupt, message: "The credential \(document.id) in the store cannot be read; restore a backup.")
      }
      stored.append(credential)
    }
    replace(with: stored)
  }
}

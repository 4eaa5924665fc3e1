internal import RedialModel
internal import RedialStore

extension NamedCredentials {
  func load(from store: any DocumentStore) throws(StoreError) {
    let stored = try store.documents(.credential).read(as: Credential.self)
    replace(with: stored.records, damaged: stored.damaged)
  }
}

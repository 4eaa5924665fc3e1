package import RedialModel

package import RedialStore

/// The default of most tests: calls of any namespace, or of the default one.
extension CallReader {
  package func call(_ id: CallID, allResponses: Bool) throws(StoreError) -> StoredCall? {
    try call(id, in: nil, allResponses: allResponses)
  }

  package func attempts(of id: CallID, withBodies: Bool) throws(StoreError) -> [AttemptRecord]? {
    try attempts(of: id, in: .default, withBodies: withBodies)
  }
}

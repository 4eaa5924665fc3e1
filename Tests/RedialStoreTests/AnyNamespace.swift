import RedialModel

@testable import RedialSQLite
@testable import RedialStore

/// The default of most tests: calls of any namespace, or of the default one.
extension CallReader {
  func call(_ id: CallID, allResponses: Bool) throws(StoreError) -> StoredCall? {
    try call(id, in: nil, allResponses: allResponses)
  }

  func attempts(of id: CallID, withBodies: Bool) throws(StoreError) -> [AttemptRecord]? {
    try attempts(of: id, in: .default, withBodies: withBodies)
  }
}

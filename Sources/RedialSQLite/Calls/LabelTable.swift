internal import RedialStore
internal import RedialModel
internal import RedialJSON

/// The labels of calls, so that a list by label costs only as much as its result.
///
/// The labels themselves are in the calls' specs, which are at hand when a call is removed. So there is no index from
/// calls to labels, which was a third of a label's cost. The table is searched completely only if a damaged spec does
/// not show its labels. Most calls have none, and cost nothing here.
struct LabelTable {
  private let connection: SQLiteConnection
  private let rows: RowInsertion
  private let removeOne: SQLiteStatement
  private let removeAll: SQLiteStatement

  /// Prepares the statements.
  init(on connection: SQLiteConnection) throws(StoreError) {
    self.connection = connection
    rows = try RowInsertion(on: connection, "store a label", into: "labels", ["name", "value", "call_id"])
    removeOne = try connection.prepare(
      "remove a call's label", "DELETE FROM labels WHERE name = ?1 AND value = ?2 AND call_id = ?3")
    removeAll = try connection.prepare("look for a call's labels", "DELETE FROM labels WHERE call_id = ?1")
  }

  /// Stores the labels of new calls. Their names have the namespaces of their calls.
  func insert(_ new: [NewCall]) throws(StoreError) {
    var labels: [(label: CallSpec.Label, call: CallID, namespace: Namespace)] = []
    // A webhook's label is its event; nobody searches by it.
    for new in new where new.call.kind == .call && !new.call.spec.labels.isEmpty {
      for label in new.call.spec.labels { labels.append((label, new.call.id, new.call.spec.namespace)) }
    }
    try rows.insert(labels) { row, statement in bind(row.label, of: row.call, in: row.namespace, to: statement) }
  }

  func remove(_ labels: RemovedLabels, of id: CallID) throws(StoreError) {
    guard case .listed(let spec) = labels else {
      if case .unknown = labels { try search(id) }
      return
    }
    if let (labels, namespace) = RemovedLabels.quickly(spec), try remove(labels, of: id, in: namespace) { return }
    // The text may have been part of something else, such as a header field.
    let read = spec.withUnsafeBufferPointer { bytes in
      Result { () throws(JSONError) in try CallSpec.read(canonicalJSON: bytes) }
    }
    if case .success(let spec) = read, try remove(spec.labels, of: id, in: spec.namespace) { return }
    try search(id)
  }

  /// Removes labels of a call, and returns whether it had all of them.
  private func remove(
    _ labels: [CallSpec.Label], of id: CallID, in namespace: Namespace
  ) throws(StoreError) -> Bool {
    var hadAll = true
    for label in labels {
      bind(label, of: id, in: namespace, to: removeOne)
      try removeOne.run()
      if connection.changes == 0 { hadAll = false }
    }
    return hadAll
  }

  /// Removes all labels of a call, at the cost of reading all calls' labels.
  private func search(_ id: CallID) throws(StoreError) {
    removeAll.bind(1, id.rawValue)
    try removeAll.run()
  }

  private func bind(_ label: CallSpec.Label, of id: CallID, in namespace: Namespace, to statement: SQLiteStatement) {
    statement.bind(1, key: LabelName(label.name, in: namespace))
    statement.bind(2, text: label.value)
    statement.bind(3, id.rawValue)
  }
}

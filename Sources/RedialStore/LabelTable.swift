internal import RedialModel

/// Which calls have which labels, so that a list of one label's calls costs no more than it answers.
///
/// The labels themselves are in the calls' specs. Most calls have none, and cost nothing here.
struct LabelTable {
  private let insert: SQLiteStatement
  private let removeAll: SQLiteStatement

  /// Prepares the statements.
  init(on connection: SQLiteConnection) throws(StoreError) {
    insert = try connection.prepare("store a label", "INSERT INTO labels (name, value, call_id) VALUES (?1, ?2, ?3)")
    removeAll = try connection.prepare("remove a call's labels", "DELETE FROM labels WHERE call_id = ?1")
  }

  /// Stores the labels of a new call. Their names are qualified by its namespace.
  func insert(_ labels: [CallSpec.Label], of id: CallID, in namespace: Namespace) throws(StoreError) {
    for label in labels {
      insert.bind(1, text: QualifiedKey.make(label.name, in: namespace))
      insert.bind(2, text: label.value)
      insert.bind(3, id.rawValue)
      try insert.run()
    }
  }

  /// Removes the labels of a call.
  func remove(of id: CallID) throws(StoreError) {
    removeAll.bind(1, id.rawValue)
    try removeAll.run()
  }
}

internal import RedialModel
internal import RedialStore

/// The column behind those of a call in which an instance sees the record of a target of another one. It is read with the
/// call, so that a list of calls takes no query for each target.
enum TargetColumn {
  static let name = "t.record"

  /// Adds the target `t` of a call `c`.
  static let join = "LEFT JOIN targets t ON \(Lookup.row("t.id", "c.target_id"))"

  /// The record of the target, in a row whose columns are ``CallColumns/list(bodies:largest:past:)`` and ``name``. A record
  /// that cannot be read is for its owner to report.
  static func read(_ rows: PostgresRows, _ row: Int, of key: TargetKey) -> TargetRecord {
    let column = CallColumns.past + 1
    guard !rows.isNull(row, column) else { return TargetRecord() }
    return rows.withBytes(row, column) { bytes in try? TargetRecord(bytes, of: key, in: "the database", rows.vault) }
      ?? TargetRecord()
  }
}

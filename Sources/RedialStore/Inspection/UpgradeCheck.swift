package import RedialModel

/// What a service cannot read in an older store, and what else keeps it from starting there. It is found in the transaction
/// that has upgraded the store, and before that is committed.
package struct UpgradeCheck {
  private let records: RecordFindings
  private let calls: StoreFinding

  /// - Parameter calls: Those that cannot be read, and that the version which made the store may be able to read.
  package init(_ records: RecordFindings, calls: StoreFinding) {
    (self.records, self.calls) = (records, calls)
  }

  /// Whether all of the store can be read.
  package var isReadable: Bool { records.unreadable.count + calls.count == 0 }

  /// Why a store is not upgraded; nil if it can be.
  ///
  /// - Parameters:
  ///   - place: The store.
  ///   - versions: Those of the schema.
  package func refusal(at place: String, from old: Int64, to new: Int64) -> StoreError? {
    let count = records.unreadable.count + calls.count
    if count == 0 { return records.refusal(at: place) }
    let examples = (records.unreadable.examples + calls.examples).prefix(StoreFinding.maximumExamples)
    let more = count > examples.count ? "; and \(count - examples.count) more" : ""
    return StoreError(
      kind: .corrupt,
      message: "\(place) was not upgraded from schema \(old) to \(new), because this version of Redial cannot read "
        + "\(count == 1 ? "one thing" : "\(count) things") in it: \(examples.joined(separator: "; "))\(more). Nothing was "
        + "changed, so the version that made it still works with it: remove or replace there what is named. Or have that "
        + "version export everything, and import it with this one into a new store: it leaves out what it cannot read, and "
        + "says so.")
  }

  /// That what was checked is what an upgrade of the store would make.
  package func warning(from old: Int64, to new: Int64) -> StoreWarning {
    let upgrade = "the store is of schema \(old); a service of this version"
    return StoreWarning(
      .older,
      isReadable
        ? "\(upgrade) upgrades it to \(new) when it starts, which was tried for this check and undone"
        : "\(upgrade) does not start on it, and changes nothing, as long as it has what cannot be read")
  }
}

internal import RedialModel
internal import RedialStore

extension LoggedCalls {
  /// A call as it is now, from the tables and from here; nil if neither has it.
  func find(_ id: CallID, in rows: CallRows) throws(StoreError) -> CallRows.Found? {
    guard let call = calls[id] else { return try rows.call(id) }
    if let damage = call.new?.damage { return .damaged(damage.of(id)) }
    if let record = call.record { return .intact(record) }
    let found = try rows.call(id)
    guard case .intact(var record)? = found else { return found }
    record.progress = call.progress
    return .intact(record)
  }
}

extension LoggedCalls.Call {
  /// The call as it is now, if the tables lack it.
  var record: CallRecord? {
    guard var record = new?.call else { return nil }
    record.progress = progress
    return record
  }

  /// Its attempts, if the tables lack it or have these.
  ///
  /// - Throws: The damage of an attempt.
  func attempts(
    of id: CallID, after stored: [AttemptRecord] = [], _ responses: AttemptRows.Responses, _ vault: Vault
  ) throws(AttemptDamage) -> [AttemptRecord] {
    var shown = stored
    if responses == .last, !attempts.isEmpty {
      for index in shown.indices { shown[index].result.response = nil }
    }
    for (index, attempt) in attempts.enumerated() {
      shown.append(
        try responses.shown(of: attempt.stored(), isLast: index == attempts.count - 1)
          .record(of: id, vault))
    }
    return shown
  }
}

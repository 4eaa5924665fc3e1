internal import RedialCore
package import RedialModel
package import RedialStore

extension PostgresReader {
  /// Calls without bodies, newest first. One that cannot be read is listed with an empty URL.
  package func calls(_ query: CallQuery) throws(StoreError) -> CallPage<StoredCall> {
    let page = try ids(query)
    let found = try results(of: page.calls, by: ReadQueries.listed)
    var calls: [StoredCall] = []
    for id in page.calls {
      // A call that was removed since is left out.
      guard let result = found[id] else { continue }
      switch result {
      case .success(let call): calls.append(call)
      case .failure(let damage): calls.append(damage.standIn(for: query.filter))
      }
    }
    return CallPage(calls: calls, next: page.next)
  }

  /// The ids of calls, newest first.
  package func ids(_ query: CallQuery) throws(StoreError) -> CallPage<CallID> {
    var page = CallPage<CallID>(calls: [], next: nil)
    let filter = query.filter
    guard query.limit > 0, !filter.storedStates.isEmpty, let namespace = try number(of: filter.namespace) else {
      return page
    }
    var targetID: Int64?
    if let target = filter.target {
      targetID = try number(of: TargetKey(target, in: filter.namespace))
      if targetID == nil { return page }
    }
    var before = min(query.before ?? filter.endID, filter.endID)
    // In rows.
    var left = filter.isIndexed ? Int.max : max(1, query.scanLimit) * CallQuery.rowsPerCall
    let search = filter.urlPart.map { TextSearch($0) }
    let waits = try WaitCondition(query).map { condition throws(StoreError) in try rules(condition, filter) }
    // One row more than requested shows whether there is another page.
    let limit = filter.looksUp ? ListQueries.chunk : query.limit + 1
    var reading = filter.readsRows ? min(max(Self.firstRows, limit), left) : limit
    while true {
      let rows = try run([
        ListQueries.statement(
          filter, waits: waits, before: before, namespace: namespace, targetID: targetID, reading: reading, limit: limit
        )
      ])[0]
      let found = rows.count - 1
      for row in 0..<found {
        if page.calls.count == query.limit || left <= 0 {
          page.next = before
          return page
        }
        before = CallID(rawValue: rows.integer(row, ListQueries.Column.id))
        if filter.looksUp { left -= CallQuery.rowsPerCall }
        guard rows.integer(row, ListQueries.Column.matches) == 1 else { continue }
        if let search, !isFound(search, in: rows, row, &left) { continue }
        page.calls.append(before)
      }
      let read = Int(rows.integer(found, ListQueries.Column.read))
      left -= read
      // If no more were found than may be at a time, the rest of what was read is read again.
      if found < limit || !filter.readsRows {
        if read < reading { return page }
        before = CallID(rawValue: rows.integer(found, ListQueries.Column.id))
      }
      if left <= 0 {
        page.next = before
        return page
      }
      // Where matching calls are many, few rows have to be read for a page.
      if filter.readsRows { reading = min(reading * 4, ListQueries.mostRows, left) }
    }
  }

  /// The rules for the targets whose calls a filter may select, except those that take calls.
  private func rules(_ condition: WaitCondition, _ filter: CallFilter) throws(StoreError) -> WaitRules {
    func isWanted(_ target: TargetKey) -> Bool {
      target.namespace == filter.namespace && (filter.target.map { $0 == target.bare } ?? true)
    }
    var rules = WaitRules(condition)
    let known = condition.known.standings.keys.filter { isWanted($0) && condition.known.own.contains(target: $0) }
    var find = PostgresStatement(WaitRules.find)
    find.add(texts: known.map(\.text))
    find.add(ShardSet.all.subtracting(condition.known.own).shards.map(Int64.init))
    let rows = try run([find])[0]
    for row in 0..<rows.count {
      let target = rows.key(row, 1) as TargetKey
      guard isWanted(target) else { continue }
      let record =
        rows.isNull(row, 2)
        ? nil
        : rows.withBytes(row, 2) { bytes in
          try? TargetRecord(bytes, of: target, in: "the database", rows.vault)
        }
      rules.add(condition.rule(of: target, stored: record), of: rows.integer(row, 0))
    }
    return rules
  }

  /// How many rows are read at first, if their calls may match or not.
  private static let firstRows = 1024

  /// Searches the URL of a call, as it is shown.
  private func isFound(_ search: TextSearch, in rows: PostgresRows, _ row: Int, _ left: inout Int) -> Bool {
    let id = CallID(rawValue: rows.integer(row, 0))
    guard let url = rows.withBytes(row, ListQueries.Column.spec, { rows.vault.url(in: $0, of: id) }) else {
      return false
    }
    left -= url.utf8.count / 256 * CallQuery.rowsPerCall
    return search.occurs(in: redaction.url(url))
  }

  func number(of namespace: Namespace) throws(StoreError) -> Int64? {
    if namespace.isDefault { return 0 }
    var find = PostgresStatement(ReadQueries.namespace)
    find.add(text: namespace.name)
    let rows = try run([find])[0]
    return rows.count == 0 ? nil : rows.integer(0, 0)
  }

  func number(of target: TargetKey) throws(StoreError) -> Int64? {
    var find = PostgresStatement(ReadQueries.target)
    find.add(text: target.text)
    let rows = try run([find])[0]
    return rows.count == 0 ? nil : rows.integer(0, 0)
  }
}

internal import RedialCore
package import RedialModel
package import RedialStore

extension PostgresReader {
  /// Calls without bodies, newest first. One that cannot be read is listed with an empty URL.
  package func calls(_ query: CallQuery) throws(StoreError) -> CallPage<StoredCall> {
    let page = try ids(query)
    let found = try results(of: page.calls)
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
    guard query.limit > 0, let namespace = try number(of: filter.namespace) else { return page }
    var targetID: Int64?
    if let target = filter.target {
      targetID = try number(of: TargetKey(target, in: filter.namespace))
      if targetID == nil { return page }
    }
    var before = min(query.before ?? filter.endID, filter.endID)
    var left = filter.isIndexed ? Int.max : max(1, query.scanLimit)
    let search = filter.urlPart.map { TextSearch($0) }
    while true {
      // One row more than requested shows whether there is another page.
      let limit = filter.isIndexed ? query.limit + 1 : min(ListQueries.chunk, left)
      let rows = try run([
        ListQueries.statement(filter, before: before, namespace: namespace, targetID: targetID, limit: limit)
      ])[0]
      for row in 0..<rows.count {
        if page.calls.count == query.limit || left <= 0 {
          page.next = before
          return page
        }
        before = CallID(rawValue: rows.integer(row, 0))
        if !filter.isIndexed { left -= 1 }
        guard rows.integer(row, 1) == 1 else { continue }
        if let search, !isFound(search, in: rows, row, &left) { continue }
        page.calls.append(before)
      }
      if rows.count < limit { return page }
      if left <= 0 {
        page.next = before
        return page
      }
    }
  }

  /// Searches the URL of a call, as it is shown.
  private func isFound(_ search: TextSearch, in rows: PostgresRows, _ row: Int, _ left: inout Int) -> Bool {
    guard let url = rows.withBytes(row, 2, { CallSpec.url(inCanonicalJSON: $0) }) else { return false }
    left -= url.utf8.count / 256
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

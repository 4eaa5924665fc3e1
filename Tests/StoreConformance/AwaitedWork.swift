package import RedialCore
package import RedialModel
package import RedialStore

/// Work whose outcome a test waits for, on any store that knows it at once.
extension CallStore {
  package func perform(_ work: StoreWork) throws(StoreError) -> StoreAnswer {
    switch submit(work, as: 1, StoreTrial()) {
    case .made(let answer): return answer
    case .notMade(let error), .repeatable(let error), .lost(let error): throw error
    case .found, nil: throw StoreError(kind: .unavailable, message: "the outcome of \(work) comes later")
    }
  }

  package func commit(_ writes: [StoreWrite]) throws(StoreError) {
    _ = try perform(.commit(writes))
  }

  package func claimDue(before time: Timestamp, limit: Int) throws(StoreError) -> Claim {
    guard case .due(let claim) = try perform(.claimDue(before: time, limit: limit)) else { throw .unfit }
    return claim
  }

  package func claimQueued(target: TargetKey, limit: Int) throws(StoreError) -> [CallRecord] {
    guard case .calls(let calls) = try perform(.claimQueued(target: target, limit: limit)) else { throw .unfit }
    return calls
  }

  package func claim(_ id: CallID, in namespace: Namespace = .default) throws(StoreError) -> CallRecord? {
    try fetch([CallAddress(id, in: namespace)])[0].get()
  }

  package func fetch(_ calls: [CallAddress]) throws(StoreError) -> [Result<CallRecord?, StoreError>] {
    guard case .fetched(let found) = try perform(.fetch(calls)), found.count == calls.count else { throw .unfit }
    return found
  }

  package func find(key: IdempotencyName, at time: Timestamp) throws(StoreError) -> KeyRecord? {
    guard case .keys(let records) = try perform(.find([key], at: time)), records.count == 1 else { throw .unfit }
    return records[0]
  }

  package func lease(_ request: LeaseRequest, renewing session: Int64?) throws(StoreError) -> LeaseGrant {
    guard case .leased(let grant) = try perform(.lease(request, renewing: session)) else { throw .unfit }
    return grant
  }
}

extension StoreError {
  fileprivate static var unfit: StoreError {
    StoreError(kind: .unavailable, message: "the answer does not fit the work")
  }
}

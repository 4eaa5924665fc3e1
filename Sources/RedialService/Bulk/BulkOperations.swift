internal import HTTPServer
internal import RedialCore
internal import RedialModel
internal import RedialStore
internal import RedialJSON

/// The bulk operations as resources of the API.
struct BulkOperations: Sendable {
  let runner: BulkRunner
  /// The maximum number of operations that have not ended.
  let limit: Int
  /// Calls per second if the client does not say.
  let rate: Int

  /// The maximum number of pages that a dry run counts; beyond it the answer is a lower bound.
  private static let dryRunPages = 20
  private static let dryRunPage = 5000
  /// Calls that a dry run reads at a time to see what would be skipped.
  private static let dryRunChunk = 250

  /// 200: all operations in memory, the newest first.
  func list(_ page: ListPage, of namespace: Namespace) throws(Problem) -> HTTPResponse {
    let own = runner.all.filter { $0.namespace == namespace }.sorted { ($1.createdAt, $1.id) < ($0.createdAt, $0.id) }
    return try Answer.list(own, page, .newestFirst, by: { ListOrder.key($0.createdAt, $0.id) }) { $0.write(to: &$1) }
  }

  /// 200: an operation.
  func show(_ id: BulkOperationID, _ namespace: Namespace) throws(Problem) -> HTTPResponse {
    guard let operation = runner.operation(id), operation.namespace == namespace else { throw Self.noSuchOperation(id) }
    return answer(200, operation)
  }

  /// 200: how many calls match, and how many of the newest would be skipped.
  ///
  /// - Parameters:
  ///   - standings: How targets stand, for all pages.
  ///   - departure: Whether the client has left; then the count ends early.
  func count(
    _ request: BulkRequest, _ reader: any CallReader, _ standings: KnownStandings,
    unless departure: QueryLanes.Departure
  ) throws(StoreError) -> HTTPResponse {
    var (matched, cursor, pages): (Int, CallID?, Int) = (0, nil, 0)
    var skipped = SkippedCalls()
    repeat {
      let query = CallQuery(
        request.filter, before: cursor, limit: Self.dryRunPage, scanLimit: Self.dryRunPage, standings: standings)
      let page = try reader.ids(query)
      matched += page.calls.count
      if pages == 0 {
        skipped = try self.skipped(page.calls.prefix(SkippedCalls.mostChecked), request, reader, standings, departure)
      }
      cursor = page.next
      pages += 1
    } while cursor != nil && pages < Self.dryRunPages && !departure.isKnown
    return Answer.json(capacity: 256) { writer in
      writer.beginObject()
      writer.field("dryRun", true)
      writer.field("action", request.action.name)
      writer.key("filter")
      request.filter.write(to: &writer)
      writer.field("matched", matched)
      writer.field("isComplete", cursor == nil)
      writer.key("skipped")
      skipped.write(to: &writer)
      writer.field("countedAt", standings.now)
      writer.endObject()
    }
  }

  /// Which of some matching calls an operation would leave as they are.
  private func skipped(
    _ calls: ArraySlice<CallID>, _ request: BulkRequest, _ reader: any CallReader, _ standings: KnownStandings,
    _ departure: QueryLanes.Departure
  ) throws(StoreError) -> SkippedCalls {
    var skipped = SkippedCalls()
    var rest = calls
    while !rest.isEmpty, !departure.isKnown {
      for found in try reader.records(of: Array(rest.prefix(Self.dryRunChunk))) {
        switch found {
        case nil: skipped.add(.stateChanged)
        // It is removed like any other.
        case .failure?: skipped.add(request.action == .purge ? nil : .callDamaged)
        case .success(let call)?: skipped.add(request.skipReason(of: call, foundAt: standings.now))
        }
      }
      rest = rest.dropFirst(Self.dryRunChunk)
    }
    return skipped
  }

  /// Accepts an operation, on the store's lane.
  func begin(_ request: BulkRequest, in store: any DocumentStore, at now: Timestamp) throws -> HTTPResponse {
    // A later change of the leader voids this: the next one reads what is on disk.
    guard let term = runner.leadsIn else { throw Answer.leaderSilent }
    guard runner.unfinished(in: request.filter.namespace) < limit else {
      throw Problem(
        .tooManyOperations,
        detail:
          "\(limit) operations of the namespace \(request.filter.namespace) run, which is the maximum. Wait for one to "
          + "end, or cancel one: GET /v1/operations lists them.")
    }
    let (id, forgotten) = runner.nextID(at: now, in: request.filter.namespace)
    let operation = BulkOperation(id: id, request: request, createdAt: now)
    try store.commit(forgotten.map { .remove(.operation, id: $0.documentID) } + [.add(operation.document)])
    runner.take([operation], forgetting: forgotten, in: term)
    return answer(202, operation)
  }

  /// Cancels an operation, on the store's lane.
  func cancel(
    _ id: BulkOperationID, _ namespace: Namespace, in store: any DocumentStore, at now: Timestamp
  ) throws -> HTTPResponse {
    guard var operation = runner.operation(id), operation.namespace == namespace else { throw Self.noSuchOperation(id) }
    if !operation.state.isFinal {
      operation.state = .cancelled
      operation.finishedAt = now
      try store.commit([.put(operation.document)])
      // If its last page has ended meanwhile, that end is written next.
      operation = runner.didCancel(operation)
    }
    guard operation.state == .cancelled else {
      throw Problem(
        .operationEnded,
        detail: "\(id) is completed and cannot be cancelled any more. GET /v1/operations/\(id) shows what it did.")
    }
    return answer(200, operation)
  }

  private func answer(_ status: Int, _ operation: BulkOperation) -> HTTPResponse {
    var writer = JSONWriter(capacity: 512)
    operation.write(to: &writer)
    return Answer.json(status, writer, status == 202 ? [HTTPHeader("location", "/v1/operations/\(operation.id)")] : [])
  }

  private static func noSuchOperation(_ id: BulkOperationID) -> Problem {
    Problem(
      .operationNotFound,
      detail: "No operation has the id \(id); the latest \(BulkRunner.maximumEnded) that ended are remembered. GET "
        + "/v1/operations lists them.")
  }
}

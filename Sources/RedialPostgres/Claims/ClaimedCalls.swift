internal import RedialCore
internal import RedialModel
internal import RedialStore

/// The calls of a claim, put together from the rows of calls, of their attempts and of their retries.
struct ClaimedCalls {
  /// The calls, in the order of the claim.
  private(set) var calls: [CallRecord] = []
  /// Those that cannot be read.
  private(set) var damaged: [DamagedCall] = []

  /// - Parameters:
  ///   - holds: Whether the calls are now held, whatever their rows say.
  init(_ rows: PostgresRows, attempts: PostgresRows? = nil, retries: PostgresRows? = nil, holds: Bool = true) {
    var histories: [CallID: [AttemptRecord]] = [:]
    var manual: [CallID: [ManualRetry]] = [:]
    var unreadable: Set<CallID> = []
    func add(_ damage: DamagedCall) {
      if unreadable.insert(damage.id).inserted { damaged.append(damage) }
    }
    if let attempts {
      for row in 0..<attempts.count {
        switch AttemptColumns.read(attempts, row) {
        case .success(let attempt): histories[CallID(rawValue: attempts.integer(row, 0)), default: []].append(attempt)
        case .failure(let damage): add(damage)
        }
      }
    }
    if let retries {
      for row in 0..<retries.count {
        let (id, retry) = AttemptColumns.readRetry(retries, row)
        switch retry {
        case .success(let retry): manual[id, default: []].append(retry)
        case .failure(let damage): add(damage)
        }
      }
    }
    for row in 0..<rows.count {
      switch CallColumns.read(rows, row) {
      case .failure(let damage): damaged.append(damage)
      case .success(var call):
        if unreadable.contains(call.id) { continue }
        if holds { call.progress.state = .held }
        do throws(DamagedCall) {
          let packed = try PackedColumn.records(rows, row, CallColumns.past, withResponses: false)
          call.history = packed + (histories[call.id] ?? [])
        } catch {
          damaged.append(error.of(call.spec))
          continue
        }
        call.retries = manual[call.id] ?? []
        calls.append(call)
      }
    }
  }
}

internal import RedialStore
internal import Glibc
internal import RedialCore
package import RedialModel

extension SQLiteStore {
  /// Nothing comes later.
  package func report(to listener: @escaping @Sendable (StoreOutcome) -> Void) {}

  /// Does the work at once.
  package func submit(_ work: StoreWork, as sequence: Int64, _ trial: StoreTrial) -> StoreOutcome? {
    do throws(StoreError) {
      return .made(try perform(work))
    } catch {
      return .notMade(error)
    }
  }

  private func perform(_ work: StoreWork) throws(StoreError) -> StoreAnswer {
    switch work {
    case .commit(let writes):
      try commit(writes)
      return .done
    case .claimDue(let time, let limit): return .due(try claimDue(before: time, limit: limit))
    case .claimQueued(let target, let limit): return .calls(try claimQueued(target: target, limit: limit))
    case .fetch(let calls): return .fetched(try fetch(calls))
    case .find(let keys, let time):
      var found: [KeyRecord?] = []
      found.reserveCapacity(keys.count)
      for key in keys { found.append(try find(key: key, at: time)) }
      return .keys(found)
    case .lease:
      throw StoreError(kind: .unavailable, message: "\(file.path) is not shared: nobody else can have a lease on it.")
    case .prove:
      // A different value each time, because an unchanged value would not be written.
      try setSetting("writtenAgainAt", to: "\(Self.machineTime().microseconds)")
      return .done
    }
  }

  /// The time of this machine's wall clock.
  private static func machineTime() -> Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
  }
}

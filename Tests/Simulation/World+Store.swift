internal import RedialCore
@testable internal import RedialEngine
internal import RedialModel

/// The store's lane of each instance: when its jobs end, and how.
extension World {
  func serveStore(_ instance: Instance, failing: Bool = false) {
    var failing = failing || isShared
    while instance.isUp, instance.stalledUntil == nil {
      if instance.lane.pipeline.failsNext, !failing {
        // After everything else that happens now.
        return agenda.add(.storeFails(instance.number, life: instance.life), at: now)
      }
      failing = isShared
      switch instance.lane.next(store) {
      case .wait: return
      case .report(.committed(_, let then)): perform(then, instance)
      case .report(.events(let events)): for event in events { post(event, to: instance) }
      // Without a connection nothing is sent: it waits until there is one.
      case .submit where instance.lane.isLost: break
      case .submit(let job, _, _): send(job, of: instance)
      }
    }
  }

  /// The store gets a job.
  func send(_ job: StorePipeline.Job, of instance: Instance) {
    var latency = random.duration(0.1...(random.chance(0.02) ? 400 : 20))
    if instance.cutsHang, let cut = instance.cut(at: now) { latency = max(latency, cut.upperBound - now) }
    // A store works on the requests of a connection one after the other.
    instance.lane.busyUntil = max(instance.lane.busyUntil, now + latency)
    agenda.add(.storeEnds(instance.number, life: instance.life, job: job.number), at: instance.lane.busyUntil)
  }

  private func fault(_ instance: Instance) -> SimulatedStoreLane.Fault? {
    if isServerDown || !instance.cutsHang && instance.cut(at: now) != nil { return .before }
    let isBad = badWeather.contains { $0.contains(now) }
    guard !isHealed, random.chance(isBad ? 0.9 : faultRate) else { return nil }
    if random.chance(0.5) { return .before }
    return unnoticedFaults ? .unnoticed : .atDeath
  }

  func storeEnds(_ instance: Instance, _ number: UInt64) {
    guard !instance.lane.isLost, let job = instance.lane.pipeline.open.first, job.number == number else { return }
    let fault = self.fault(instance)
    let isFull = fault != nil && random.chance(0.4)
    // A store with a ledger never takes effect unnoticed: the connection is lost, and it is asked.
    if isShared, let fault, fault != .before { return loseConnection(of: instance) }
    if isShared, fault == nil, lossRandom.chance(0.01), instance.lane.repeatOldest(job) {
      log(instance, "store has a conflict")
      return serveStore(instance)
    }
    let isRefused = instance.lane.refusal(of: job, in: store) != nil
    let before = store
    let session = instance.lane.session
    do {
      try instance.lane.end(job, on: &store, at: now, fault: fault, isFull: isFull)
    } catch {
      return invariants.require(false, error.message)
    }
    checkTakeover(since: before, by: session)
    tellOfDocuments(since: before)
    if job.isCommit {
      lastWritten = now
      log(
        instance,
        "store \(isRefused ? "refuses" : fault.map { "fails (\($0))" } ?? "commits") \(job.requests.count)")
      if fault == .unnoticed, !isRefused { instance.hadUnnoticedFault = true }
      if fault == nil || fault == .unnoticed, !isRefused {
        invariants.committed(before, store, job.writes)
        if fault == nil, !job.writes.isEmpty { invariants.checkRefused(store, by: instance.number) }
      }
    } else if fault != nil || isRefused {
      log(instance, "store \(isRefused ? "refuses" : "fails") a claim")
    }
    serveStore(instance)
  }
}

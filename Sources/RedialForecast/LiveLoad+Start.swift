internal import RedialCore
internal import RedialModel

/// What a live load will be when the target is back.
extension LiveLoad {
  /// The calls that wait at that time, the oldest first, and those that have failed until then.
  func waiting(
    at start: Timestamp, for target: TargetKey
  ) -> (batches: [VirtualStore.Batch], failed: [StopReason: Int]) {
    let one = [Waiting(due: now, attempts: 0, startedAt: now, waits: .none, policy: policy)]
    var all = Self.spread(dueSample.isEmpty ? one : dueSample, over: due)
    all += Self.spread(laterSample.isEmpty ? one : laterSample, over: later)
    var failed: [StopReason: Int] = [:]
    let coming = arrivals(until: start)
    if policy.onTrip == .fail {
      failed[.tripped] = coming.reduce(0) { $0 + $1.count }
    } else {
      all += coming
    }
    var specs: [RetryPolicy: CallSpec] = [:]
    var batches: [VirtualStore.Batch] = []
    for (waiting, count) in all where count > 0 {
      let spec = specs[waiting.policy] ?? CallSpec(simulated: waiting.policy, to: target)
      specs[waiting.policy] = spec
      var call = CallRecord(
        id: CallID(rawValue: 0), kind: .call, spec: spec, body: [], createdAt: waiting.startedAt,
        progress: CallProgress(
          state: .scheduled, due: waiting.due, waiting: .backoff, attempts: waiting.attempts, waits: waiting.waits,
          roundStartedAt: waiting.startedAt))
      if call.lastStart <= start {
        failed[.deadlineExceeded, default: 0] += count
        continue
      }
      if waiting.due <= start {
        (call.progress.state, call.progress.waiting, call.progress.due) = (.queued, .concurrency, call.lastStart)
      }
      batches.append(VirtualStore.Batch(call: call, count: count))
    }
    return (batches.sorted { $0.call.createdAt < $1.call.createdAt }, failed.filter { $0.value > 0 })
  }

  /// New calls until then, by the time at which they come.
  private func arrivals(until start: Timestamp) -> [(Waiting, count: Int)] {
    let time = (start - now).inSeconds
    let slices = (0..<Self.slices).map { slice in
      let at = now + Duration(clampingSeconds: time * (Double(slice) + 0.5) / Double(Self.slices))
      return Waiting(due: at, attempts: 0, startedAt: at, waits: .none, policy: policy)
    }
    return Self.spread(slices, over: Int(min(1e12, max(0, time * arrivals + 1e-9))))
  }

  private static var slices: Int { 120 }

  /// A sample, each with the number of calls that it stands for.
  private static func spread(_ sample: [Waiting], over count: Int) -> [(Waiting, count: Int)] {
    sample.indices.map { (sample[$0], ($0 + 1) * count / sample.count - $0 * count / sample.count) }
  }

  /// The target's breaker at that time; nil if it is closed.
  func breaker(at start: Timestamp) -> OpenBreaker? {
    let isOn = settings.breaker.consecutiveFailures > 0 || settings.breaker.failureRate <= 1
    guard start > now, isOn else { return openUntil }
    if let openUntil, openUntil.until > start { return openUntil }
    // Probes come at intervals: the first that succeeds, after half of one on average.
    let interval = min(settings.breaker.maximumOpenInterval, start - now)
    return OpenBreaker(until: start + interval / 2, trips: max(1, openUntil?.trips ?? 1))
  }
}

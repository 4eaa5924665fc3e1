internal import Dispatch
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore
internal import RedialTransport
internal import Synchronization

/// How the engine's effects are performed, and their results reported.
extension Runtime {
  /// Performs the engine's effects.
  func perform(_ effects: Effects) {
    if !effects.store.isEmpty { storeLane?.post(effects.store) }
    if !effects.actions.isEmpty { perform(effects.actions) }
  }

  /// Continues with the results of requests to the store.
  // A separate function in every build, because the profile finds the work after a commit by its name.
  @inline(never)
  func storeDid(_ outcome: StorePipeline.Report) {
    switch outcome {
    case .events(let events): post(events)
    case .committed(let writes, let then):
      for observer in observers.beforeReplies { observer.committed(writes) }
      perform(then)
      for observer in observers.afterReplies { observer.committed(writes) }
    }
  }

  private func perform(_ actions: [Action]) {
    var answers = SubmissionAnswers(most: actions.count)
    // The attempts to start are among the actions from `first` on, if there are any.
    var (first, hasStart) = (0, false)
    var forwards: [ForwardedCall] = []
    for (place, action) in actions.enumerated() {
      switch action {
      case .start: hasStart = true
      case .reply(let reply): answer(reply, into: &answers)
      case .answer(let tell): tell()
      case .abort(let id):
        // Before the aborts: an attempt to abort may be among these, and an abort that came first would not find it.
        if hasStart { attemptLane?.start(actions[first..<place]) }
        (first, hasStart) = (place, false)
        attemptLane?.abort(id)
      case .notice(let notice):
        standings.note(notice, at: clock.now)
        noteShards(notice)
        log.write(notice)
        forecastWatch.note(notice)
        events.note(notice, at: clock.now)
      // The engine reports how each target stands.
      case .tookOver: break
      case .forward(let descriptor, let reply):
        guard let identity = descriptor.identity else { break }
        forwards.append(ForwardedCall(descriptor: descriptor, reply: reply, identity: identity))
      case .tellOwners(let shards): shared?.store.tellOwners(of: shards)
      case .drained: drained.signal()
      }
    }
    if hasStart { attemptLane?.start(actions[first...]) }
    answers.send(redaction)
    if !forwards.isEmpty { forward(forwards) }
  }

  /// Reports attempts that the transport has made to the engine.
  func attemptsEnded(_ ended: AttemptLane.Ended) {
    metrics.count { counts in
      for (_, result) in ended.results {
        counts.attempts[Int(result.outcome.rawValue)] += 1
        counts.attempt.record(result.duration.inSeconds)
      }
    }
    act(on: endpoints.ended(ended.results, at: clock.now))
    postInPlace(ended.events)
  }
}

internal import RedialCore
internal import RedialEngine
internal import RedialModel

/// Calls end, and only in allowed ways.
extension Invariants {
  func checkEnd(_ row: SimulatedStore.Row) {
    let record = row.record
    let progress = record.progress
    let story = stories[record.id] ?? Story()
    require(progress.finishedAt != nil, "\(record.id) ended and nobody knows when")
    require((progress.failure != nil) == (progress.state == .failed), "\(record.id) failed without a reason")
    // Who lists issues reads the error from the stored call.
    require(
      progress.issue == FailedGroup(of: record, last: row.attempts.last)?.id || record.spec.contentErasedAt != nil,
      "\(record.id) is in the issue of another error")
    let hasPayloads = !record.body.isEmpty || row.attempts.contains { $0.response != nil }
    require(
      !record.spec.isSensitive || record.spec.contentErasedAt != nil && !hasPayloads,
      "\(record.id) is sensitive, and ended with its payloads")
    require(
      progress.chargedAttempts <= record.spec.policy.maxAttempts, "\(record.id) was charged more than its attempts")
    let cutOff = row.attempts.count { $0.number > progress.attemptsBefore && $0.outcome == .interrupted }
    require(
      progress.cutOffAttempts == cutOff,
      "\(record.id) was cut off \(cutOff) times, and \(progress.cutOffAttempts) are not charged")
    require(
      progress.mayBeProcessing == row.attempts.contains { $0.mayBeProcessed },
      "\(record.id) does not know whether an attempt may still be processed")
    switch (progress.state, progress.failure) {
    case (.succeeded, _):
      require(story.hasSucceeded, "\(record.id) succeeded and its target never said so")
    case (.cancelled, _):
      require(story.cancelWasAsked, "\(record.id) was cancelled by nobody")
    case (_, .attemptsExhausted):
      // A schedule that is used up leaves no further wait, and so no further attempt.
      var allowed = record.spec.policy.maxAttempts
      if case .schedule(let waits, then: .stop) = record.spec.policy.backoff.curve {
        allowed = min(allowed, waits.count + 1)
      }
      require(
        progress.chargedAttempts == allowed
          || progress.cutOffAttempts >= settings.maxInterruptions,
        "\(record.id) gave up after \(progress.chargedAttempts) of \(allowed) attempts")
    case (_, .deadlineExceeded):
      // A call whose next wait would pass its deadline ends before it, by at most the longest wait.
      require(
        (progress.finishedAt ?? .epoch) + World.longestWait >= record.deadline || story.wasSentAwayForGood,
        "\(record.id) gave up \(record.deadline - (progress.finishedAt ?? .epoch)) before its deadline")
      require(
        !isFairWeather
          || (progress.finishedAt ?? .epoch) <= record.deadline + World.longestQueue,
        "\(record.id) ended \((progress.finishedAt ?? .epoch) - record.deadline) after its deadline")
    case (_, .attemptEndedTheService):
      require(story.isLethal, "\(record.id) was ended for deaths that others have caused")
    case (_, .tripped):
      require(record.spec.policy.onTrip == .fail, "\(record.id) was to wait for its target and tripped")
    default: break
    }
  }

  /// Memory is limited: calls held beyond the limit are in flight, or were claimed for a client.
  func checkMemory(_ held: Int, inFlight: Int, clients: Int) {
    require(inFlight <= settings.maxInFlight, "\(inFlight) attempts are in flight")
    require(
      held <= settings.maxHeld + settings.maxInFlight + clients,
      "the engine holds \(held) calls, \(settings.maxHeld) allowed")
  }

  /// Due calls leave a quarter of the memory to calls that are claimed for others, except for one of each target.
  func checkShares(due: Int, targets: Int) {
    require(
      due <= settings.maxHeld / 4 * 3 + targets,
      "\(due) due calls of \(targets) targets are in memory, \(settings.maxHeld / 4 * 3) allowed and one each")
  }

  /// Everything was healthy for long: every call must have ended, once.
  func checkRun(_ store: SimulatedStore, _ reports: [EngineReport?]) {
    for (id, story) in stories.sorted(by: { $0.key < $1.key }) where story.isAcknowledged {
      require(store.rows[id] != nil, "\(id) was acknowledged and is lost")
    }
    for (id, row) in store.rows.sorted(by: { $0.key < $1.key }) {
      let progress = row.record.progress
      require(
        progress.state.isFinal,
        "\(id) never ended: \(progress.state), waiting \(progress.waiting.map { "\($0)" } ?? "for nothing"), "
          + "due \(progress.due.text), attempts \(progress.attempts)")
      // With a deadline of a day, a call that has not ended has waited in vain.
      if progress.failure == .deadlineExceeded {
        let isShort = row.record.spec.policy.deadline < .seconds(3600)
        require(isShort || stories[id]?.wasSentAwayForGood == true, "\(id) waited for its deadline, for no reason")
      }
      let numbers = row.attempts.map(\.number).sorted()
      require(numbers == Array(1..<(numbers.count + 1)), "\(id) has records of attempts \(numbers)")
      require(numbers.count == progress.attempts, "\(id) has \(numbers.count) records of \(progress.attempts) attempts")
    }
    for report in reports { checkReport(report) }
  }

  private func checkReport(_ report: EngineReport?) {
    guard let report else { return require(false, "the engine did not report") }
    require(report.inFlight == 0, "the engine believes that \(report.inFlight) attempts are in flight")
    require(report.held == 0, "the engine holds \(report.held) calls after all have ended")
    require(report.unfinished == 0, "the engine believes that \(report.unfinished) calls have not ended")
    require(!report.storeFailing, "the engine believes that the store fails")
    for target in report.targets {
      require(target.inFlight == 0, "\(target.key) has \(target.inFlight) attempts in flight")
      require(target.storedCalls == 0, "\(target.key) is believed to have \(target.storedCalls) calls in the store")
    }
  }
}

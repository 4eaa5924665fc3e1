/// The end of a round: what it says about the target, and the next rate.
extension AdaptivePace {
  /// Judges a round that is complete.
  mutating func review(at now: Timestamp) {
    if rate != nil, round.isFlooded(beyond: baseline.refusedShare) {
      // What the round before says is out of date, except for its shortest response time.
      if let ending { baseline.learnShortest(of: ending) }
      judge(round, at: now)
      begin(at: now)
    } else if let ending {
      // While the rate rises, half of the answers are enough.
      let needed = isRising ? (ending.started + 1) / 2 : ending.started - ending.started / 10
      guard ending.ended >= needed || now - ending.to > patience else { return }
      judge(ending, at: now)
      begin(at: now)
    } else if isFull(at: now) {
      var full = round
      full.to = now
      begin(at: now)
      ending = full
      review(at: now)
    }
  }

  private func isFull(at now: Timestamp) -> Bool {
    let length = Double((now - round.from).wholeMicroseconds)
    let least = max(Self.shortestRound, baseline.usual) / (isRising ? 2 : 1)
    if round.started >= enough, length >= least { return true }
    return round.started >= Self.risingStarts && length >= max(Self.longestRound, 2 * baseline.usual)
  }

  /// The starts that tell enough. Where many fail in any case, a few more of them are chance.
  private var enough: Int {
    isRising && baseline.refusedShare < 0.05
      ? isSearching ? Self.searchingStarts : Self.risingStarts : Self.roundStarts
  }

  /// In microseconds.
  private static let shortestRound = 50_000.0
  private static let longestRound = 10_000_000.0

  /// How long the ends of a round are awaited.
  private var patience: Duration { .microseconds(Int64(500_000 + min(3 * baseline.usual, 1e12))) }

  private mutating func judge(_ ended: PaceRound, at now: Timestamp) {
    guard isAboutLimit(ended, at: now) else { return observe(ended, at: now) }
    unusedSince = nil
    let signs = baseline.signs(of: ended)
    // Meanwhile requests of the next round have started too, and have ended.
    let flow = PaceRound.flow(ended, round, until: now)
    learnDelivered(ended, flow)
    let isRefused = signs.refused > 4 * Self.aim && ended.refused >= 2
    let speed = ended.speed(until: now)
    let load = LoadBaseline.Load(requests: ended.started, rate: speed, flow: flow ?? 0)
    if let before = baseline.rateBeforeUselessFall(ended, signs, load) {
      isRising = true
      isSearching = false
      full = 0
      return set(before, .notLoad, at: now)
    }
    if signs.isQueued, let flow {
      // Requests that fail in any case use the capacity too.
      let used = flow / (1 - baseline.refusedShare)
      queued(ended, signs, speed: speed, flow: used, isRefused: isRefused, at: now)
    } else if signs.refused > 0 {
      refused(ended, signs, speed: speed, at: now)
    } else {
      quiet(starts: ended.started, speed: speed, signs, loop: now - ended.from, at: now)
    }
  }

  /// Whether a round says something about the limit: that held a request back, or more was refused than usual at a speed
  /// that is not far from it. What fails at a speed that is far from it would fail without it.
  private func isAboutLimit(_ ended: PaceRound, at now: Timestamp) -> Bool {
    guard let rate else { return false }
    return ended.isLimited || round.isLimited
      || ended.refusedShare > baseline.refusedShare + 4 * Self.aim && ended.measuredSpeed(until: now) > rate / 2
  }

  /// Learns from a round in which nothing was held back: what it shows is not about the load that the pace allows.
  private mutating func observe(_ ended: PaceRound, at now: Timestamp) {
    if baseline.learnUsual(ended) { learnDelivered(ended, PaceRound.flow(ended, round, until: now)) }
    guard rate != nil else { return }
    cycle.interrupt()
    let since = unusedSince ?? now
    unusedSince = since
    if now - since >= Self.unusedTime || now < since { lift(at: now) }
  }

  private mutating func learnDelivered(_ ended: PaceRound, _ flow: Double?) {
    guard ended.refusedShare < 0.5, let flow else { return }
    delivered += (flow - delivered) * (delivered == 0 ? 1 : min(1, Double(ended.started) / 200))
    if full > 0 { full = max(full, delivered) }
  }

  private mutating func queued(
    _ ended: PaceRound, _ signs: LoadBaseline.Signs, speed: Double, flow: Double, isRefused: Bool, at now: Timestamp
  ) {
    fall(ended, signs)
    hasQueued = true
    var new: Double
    if isQueued {
      capacity.learn(flow, of: ended.started)
      new = capacity.rate * (1 + correction(signs, loop: now - ended.from))
    } else {
      // Some of what was delivered may have started before the queue was there.
      new = min(speed, max(flow, 0.7 * speed))
    }
    if isRefused { new = min(new, speed * (1 - signs.refused)) }
    isQueued = true
    learnFull(flow)
    new = max(new, leastAfter(speed))
    set(new, isRefused ? .refused : .queued, at: now)
  }

  /// The share of the capacity by which the rate is more or less, to bring the queue to its length.
  private func correction(_ signs: LoadBaseline.Signs, loop: Duration) -> Double {
    min(0.05, max(-0.3, (signs.allowedQueue - signs.queue) / 1e6 / max(4, 2 * loop.inSeconds)))
  }

  /// The rate has been too high. If few requests showed it, how much too high is not known: then the rate goes on to
  /// rise from there, but slowly.
  private mutating func fall(_ ended: PaceRound, _ signs: LoadBaseline.Signs) {
    quietRounds = 0
    isRising = isRising && !isSearching && ended.started < Self.roundStarts
    isSearching = isRising
  }

  private mutating func refused(_ ended: PaceRound, _ signs: LoadBaseline.Signs, speed: Double, at now: Timestamp) {
    fall(ended, signs)
    isQueued = false
    learnFull(speed * (1 - signs.refused))
    var new = speed * (1 - signs.refused) / (1 - Self.aim)
    if let result = cycle.take(), signs.refused < 0.2, baseline.refusedShare == 0 {
      capacity.learn(result.flow, of: result.count)
      new = min(new, capacity.rate * (1 + 2 * Self.aim))
    }
    set(max(new, leastAfter(speed)), .refused, at: now)
  }

  /// The target is overloaded, and processes so much.
  private mutating func learnFull(_ flow: Double) {
    // A large difference is another capacity; a small one is chance.
    full = capacity.rate > 0 ? capacity.rate : abs(flow - full) > full / 2 ? flow : full + (flow - full) / 4
  }

  /// How far one round, of which all may have come too fast, can bring the rate down.
  private func leastAfter(_ speed: Double) -> Double {
    speed > delivered ? max(speed / 16, delivered / 2) : speed / 4
  }

  private mutating func quiet(
    starts: Int, speed: Double, _ signs: LoadBaseline.Signs, loop: Duration, at now: Timestamp
  ) {
    isQueued = false
    quietRounds += 1
    // What was measured at the lowest rate, with rounds of 40 s, is no capacity: it rises as after an outage.
    if speed <= Self.slowest { (isRising, isSearching) = (true, false) }
    if isRising {
      set(speed * (isSearching ? 1.1 : 1.5), .grew, at: now)
    } else if hasQueued, quietRounds < Self.trust, capacity.rate > 0 {
      set(capacity.rate * (1 + correction(signs, loop: loop)), .grew, at: now)
    } else {
      // The longer it is quiet, the less is known about the capacity.
      let doublings =
        capacity.rate > 0 ? Double(max(0, quietRounds - Self.trust)) / 3 : Double(quietRounds) / 2
      // At a low rate, one or two requests more are tried in any case.
      let more = starts < Self.roundStarts ? 2 / Double(max(2, starts)) : 0
      set(speed * (1 + max(more, Self.aim * Elementary.power(2, min(doublings, 7.5)))), .grew, at: now)
    }
  }

  /// Rounds for which a capacity is trusted that was measured.
  private static let trust = 6
}

extension PaceRound {
  /// Requests per second that were processed in a round and the following, unfinished one; nil if none was.
  static func flow(_ first: PaceRound, _ second: PaceRound, until now: Timestamp) -> Double? {
    let isSame = first.number == second.number
    let count = first.delivered + (isSame ? 0 : second.delivered)
    return count > 0 && now > first.from ? Double(count) / (now - first.from).inSeconds : nil
  }
}

/// How a target behaves without overload: its shortest response time, and the failures that it has in any case.
struct LoadBaseline: Sendable, Hashable {
  /// The mean response time, in microseconds; 0 if unknown.
  private(set) var usual = 0.0
  /// The shortest response time of a round without a queue, in microseconds; 0 if unknown.
  private var shortest = 0.0
  /// The share of requests that fail whatever the load, 0..<1.
  private(set) var refusedShare = 0.0
  /// How far it may rise without another trial.
  private var mostLikely = 0.0
  /// The share of requests without a limit that are processed.
  private var answeredShare = 0.0
  /// How many requests are known without a limit, as far as they count.
  private var known = 0.0
  /// A fall of the rate because of a queue, and one because of refusals.
  private var queueing = Fall()
  private var refusing = Fall()

  /// A fall of the rate because of one sign, from its beginning on.
  private struct Fall: Sendable, Hashable {
    /// The rate at its beginning; 0 if there is none.
    var rate = 0.0
    /// How strong the sign was.
    var sign = 0.0
    /// The load of the round after: what was delivered in the first may have started before.
    var reference = Load(requests: 0, rate: 0, flow: 0)
    /// A rate that is low enough.
    var target = 0.0
    var rounds = 0
    var requests = 0

    /// Fewer requests than these show nothing.
    private static let fewest = 32
    /// A target that is overloaded delivers as much at a lower rate; if it is not, the less. Between the two.
    private static let between = 0.4
    /// A smaller fall shows nothing.
    private static let clear = 0.7

    /// Whether a sign is as strong as ever, though the rate has been low enough for some rounds.
    ///
    /// - Parameter enough: The share of the rate at the beginning that would be low enough if the sign were about the
    ///   load.
    mutating func isUseless(_ sign: Double, in load: Load, enough: Double, after patience: Int) -> Bool {
      // A sign that grows, though the rate falls, has only begun.
      guard rate > 0, sign <= 1.5 * self.sign else {
        self = Fall(rate: load.rate, sign: sign, target: load.rate * min(enough, Self.clear))
        return false
      }
      rounds += 1
      requests += load.requests
      guard rounds > 1 else {
        reference = load
        return false
      }
      let share = min(1, load.rate / reference.rate)
      return rounds >= patience && requests >= Self.fewest && load.rate <= target && sign >= 0.7 * self.sign
        && load.flow <= reference.flow * (share + Self.between * (1 - share))
    }
  }

  /// What a target got in a round, and delivered.
  struct Load: Sendable, Hashable {
    var requests: Int
    /// Both per second.
    var rate: Double
    var flow: Double
  }

  /// How far a round is beyond the baseline.
  struct Signs: Sendable, Hashable {
    /// The share of requests refused because of the load, 0...1.
    var refused: Double
    /// How long requests wait in the target's queue, in microseconds.
    var queue: Double
    /// The queue that is aimed at, in microseconds.
    var allowedQueue: Double

    /// Whether it has a queue at all.
    var isQueued: Bool { queue > allowedQueue / 4 }
    /// Whether the queue is too long.
    var isLongQueue: Bool { queue > 2 * allowedQueue }
  }

  /// A queue of this length is too short to harm, in microseconds.
  static let shortQueue = 100_000.0
  /// What the mean adds up over some 32 answers.
  private static let weight = 1.0 / 32

  /// Takes the time of a response into account.
  mutating func learn(responseTime time: Duration) {
    let took = Double(time.wholeMicroseconds)
    usual = usual == 0 ? took : usual + (took - usual) * Self.weight
  }

  /// Takes a round into account that is not judged.
  mutating func learnShortest(of round: PaceRound) {
    guard round.answered > 0 else { return }
    shortest = shortest == 0 ? round.shortest : min(shortest, round.shortest)
  }

  /// Compares a round with the baseline, which improves by it.
  mutating func signs(of round: PaceRound) -> Signs {
    let chance = learn(round)
    var queue = 0.0
    if round.answered > 0 {
      // A mean of the past would make the rounds long.
      if round.answered >= 4, round.mean < usual / 2 { usual = round.mean }
      learnShortest(of: round)
      // The shortest of a few differs by chance.
      let spread = 4 * max(0, usual - shortest) / Double(round.answered)
      queue = max(0, round.shortest - shortest - spread)
    }
    return Signs(
      refused: max(0, round.refusedShare - refusedShare - chance) / (1 - refusedShare), queue: queue,
      allowedQueue: Self.shortQueue + 0.1 * shortest)
  }

  /// Follows the share that is refused whatever the load, if there is one. Returns how far a round may be beyond it by
  /// chance: by two standard deviations.
  private mutating func learn(_ round: PaceRound) -> Double {
    guard refusedShare >= Self.fewestRefused, round.started > 0 else { return 0 }
    let requests = Double(round.started)
    let chance = 2 * ((refusedShare * (1 - refusedShare) + 0.5 / requests) / requests).squareRoot()
    let difference = round.refusedShare - refusedShare
    if difference < -chance {
      refusedShare += difference * min(1, requests / 50)
    } else if difference <= chance {
      // It follows some ten refusals. A share that followed every rise would hide an overload.
      let weight = min(requests / 200, requests * refusedShare / 10)
      refusedShare = min(refusedShare + difference * min(1, weight), max(refusedShare, mostLikely))
    }
    if refusedShare < Self.fewestRefused { refusedShare = 0 }
    return chance
  }

  /// Takes a round into account in which there was no limit: what it shows is usual. Returns whether it is: a round with
  /// much fewer answers than before may be the begin of an outage.
  mutating func learnUsual(_ round: PaceRound) -> Bool {
    guard round.started > 0 else { return false }
    let requests = Double(round.started)
    let answered = Double(round.answered) / requests
    let isUsual = answered >= answeredShare / 2
    answeredShare += (answered - answeredShare) * (isUsual ? min(1, requests / (known + requests)) : 1.0 / 32)
    guard isUsual else { return false }
    known = min(Self.memory, known + requests)
    setUsual(refusedShare + (round.refusedShare - refusedShare) * min(1, requests / known), of: known)
    guard round.answered > 0 else { return true }
    if round.answered >= 4, round.mean < usual / 2 { usual = round.mean }
    if shortest > 0, round.shortest > shortest { shortest += (round.shortest - shortest) / 16 }
    learnShortest(of: round)
    return true
  }

  /// The rate before it fell without any effect on the signs: then they are not about the load, and become the
  /// baseline. Otherwise nil.
  mutating func rateBeforeUselessFall(_ round: PaceRound, _ signs: Signs, _ load: Load) -> Double? {
    guard !signs.isLongQueue else {
      refusing = Fall()
      // A queue needs time to get shorter.
      guard queueing.isUseless(signs.queue, in: load, enough: 0.5, after: 5) else { return nil }
      shortest = round.shortest
      defer { queueing = Fall() }
      return queueing.rate
    }
    queueing = Fall()
    guard signs.refused > 0 else {
      refusing = Fall()
      return nil
    }
    guard refusing.isUseless(signs.refused, in: load, enough: 1 - signs.refused, after: 2) else { return nil }
    setUsual(round.refusedShare, of: Double(round.started))
    defer { refusing = Fall() }
    return refusing.rate
  }

  /// A share of so many requests was refused, whatever the load.
  private mutating func setUsual(_ share: Double, of requests: Double) {
    refusedShare = min(Self.mostRefused, share)
    let variance = (refusedShare * (1 - refusedShare) + 0.5 / requests) / requests
    mostLikely = min(Self.mostRefused, refusedShare + max(Self.drift, 2 * variance.squareRoot()))
  }

  /// An outage has ended, or begun: what was before says nothing.
  mutating func forgetFalls() {
    queueing = Fall()
    refusing = Fall()
  }

  /// So many requests without a limit are remembered.
  private static let memory = 1000.0

  private static let mostRefused = 0.9
  /// The share may rise by so much in any case.
  private static let drift = 0.02
  /// A smaller share is not worth following.
  private static let fewestRefused = 0.002
}

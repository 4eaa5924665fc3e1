/// Finds out whether refusals are about the load.
///
/// An overloaded target refuses nothing at a rate that is clearly lower than what it accepted. If it still does, either
/// the refusals are not about the load, or its capacity has become less meanwhile. So:
///
/// 1. When the rate falls because of refusals, the answers at the high rate and at clearly lower ones are summed up,
///    until they decide (as in Wald, "Sequential Tests of Statistical Hypotheses", Annals of Mathematical Statistics
///    16(2), 1945). One round decides nothing: at a low rate it has few requests. Meanwhile the rate falls no further than
///    ``floor(usual:)``. That is done twice, since what the target accepts is known only roughly at first.
/// 2. If refusals stay, a higher rate is tried. If the target accepts more there, and refuses the same share, that is
///    the share that it refuses whatever the load. If it accepts no more, that is its capacity.
struct RefusalTrial: Sendable, Hashable {
  /// What a round has shown.
  enum Verdict: Sendable, Hashable {
    /// A lower rate does not help: this higher one is to be tried, in requests per second.
    case tryHigher(rate: Double)
    /// That has not decided: more answers at this lower rate are needed.
    case tryLower(rate: Double)
    /// This share of requests is refused at any rate; the rate to go on with.
    case notLoad(share: RefusalAnswers, rate: Double, origin: Double)
    /// The target is overloaded, and accepts so many requests per second.
    case load(accepted: Double)
  }

  /// Answers at the rate at which the trial began, and at clearly lower ones.
  private var high = RefusalAnswers()
  private var low = RefusalAnswers()
  /// Answers at the rate that is tried.
  private var tried = RefusalAnswers()
  private var isTrying = false
  /// How often it has been tried, this time included.
  private var turns = 1.0
  /// Whether a lower rate has been of no use before.
  private var isRepeated = false
  /// The rate before it fell, in requests per second.
  private var origin = 0.0

  /// The odds for a decision, as a logarithm to the base 2.
  private static let odds = 5.0
  private static let triedOdds = 5.0
  /// After so many requests the low rate is examined again, and in the end less is enough. Without that, the target is
  /// taken to be overloaded.
  private static let mostTried = 32.0
  private static let mostTurns = 4.0
  private static let leastOdds = 2.0
  /// The share that an overloaded target may refuse at a rate that it can take.
  private static let allowed = 0.004
  /// The rate that it can take, as a share of what it accepted.
  private static let clear = 0.85
  /// Fewer requests at a low rate show nothing.
  private static let fewest = 12.0
  private static let fewestAccepted = 3.0
  private static let fewestHigh = 8.0
  /// How far below ``clear`` the rate falls, as a share.
  private static let deepest = 0.7
  /// A higher rate need not be held: at a lower one there are soon enough answers, too.
  private static let quick = 20.0
  /// In a shorter time, in seconds, little of what was measured is about the rate.
  private static let shortest = 0.2
  /// No more requests are remembered at one rate.
  private static let most = 400.0
  /// Sums begin again when a rate differs from theirs by more than this factor.
  private static let level = 1.25
  /// A rate that is lower by no more is the same.
  private static let same = 0.95
  /// How much higher the rate is that is tried; twice that where many are refused, so that the difference is clear.
  private static let step = 2.0
  private static let many = 0.3

  /// Whether a higher rate is tried, which should not change until there is a verdict.
  var isHolding: Bool { isTrying }

  /// The rate below which there is nothing to find out; 0 without a trial.
  func floor(usual: Double) -> Double {
    high.requests >= Self.fewestHigh ? min(Self.quick, Self.deepest * lowEnough(usual)) : 0
  }

  private func lowEnough(_ usual: Double) -> Double {
    Self.clear * high.rate * min(1, (1 - high.cautious) / (1 - usual))
  }

  /// Takes a round into account.
  ///
  /// - Parameters:
  ///   - isRefused: Whether it shows that the rate is too high.
  ///   - usual: The share that is refused whatever the load, as far as it is known.
  mutating func note(_ answers: RefusalAnswers, isRefused: Bool, usual: Double) -> Verdict? {
    guard answers.requests > 0, answers.seconds > 0 else { return nil }
    if isTrying { return noteTried(answers, usual: usual) }
    if high.requests == 0 || answers.rate > Self.level * high.rate {
      self = RefusalTrial()
      if isRefused { self = RefusalTrial(high: answers, isRepeated: false, origin: answers.rate) }
      return nil
    }
    guard answers.rate <= lowEnough(usual) else {
      if answers.rate >= Self.same * high.rate {
        high.add(answers, most: Self.most)
        low = RefusalAnswers()
      }
      return nil
    }
    low.add(answers, most: Self.most)
    return judgeLow(usual: usual)
  }

  private mutating func judgeLow(usual: Double) -> Verdict? {
    if low.requests >= Self.fewest / 2, low.share - high.share > 3 * (low.variance + high.variance).squareRoot() {
      // The capacity has become less meanwhile.
      self = RefusalTrial(high: low, isRepeated: false, origin: low.rate)
      return nil
    }
    let least = usual + (1 - usual) * Self.allowed
    if low.share > least {
      guard low.requests >= Self.fewest, low.seconds >= Self.shortest,
        low.requests - low.refused >= Self.fewestAccepted,
        low.evidence(against: least) >= Self.odds
      else { return nil }
      guard isRepeated else {
        // What it accepted may have been less than it seemed.
        self = RefusalTrial(high: low, isRepeated: true, origin: origin)
        return nil
      }
      isTrying = true
      return .tryHigher(rate: (low.share < Self.many ? Self.step : 2 * Self.step) * low.rate)
    }
    let half = usual + max(0, high.cautious - usual) / 2
    if low.share < half, low.evidence(against: half) >= Self.odds { self = RefusalTrial() }
    return nil
  }

  private init(high: RefusalAnswers, isRepeated: Bool, origin: Double) {
    self.high = high
    self.isRepeated = isRepeated
    self.origin = origin
  }

  init() {}

  private mutating func noteTried(_ answers: RefusalAnswers, usual: Double) -> Verdict? {
    tried.add(answers, most: .infinity)
    guard tried.rate >= Self.level * low.rate else {
      // There are too few calls to try it.
      guard tried.requests >= Self.mostTried else { return nil }
      self = RefusalTrial()
      return nil
    }
    var all = low
    all.add(tried, most: .infinity)
    let accepted = (all.requests - all.refused) / all.seconds
    let capacity =
      low.likelihood(max(Self.allowed, 1 - accepted / low.rate))
      + tried.likelihood(max(Self.allowed, 1 - accepted / tried.rate))
    let odds = low.likelihood(all.share) + tried.likelihood(all.share) - capacity
    guard abs(odds) >= Self.triedOdds || tried.requests >= Self.mostTried * turns else { return nil }
    if abs(odds) < Self.triedOdds, turns < Self.mostTurns {
      // Too few answers at the low rate are known.
      turns += 1
      isTrying = false
      return .tryLower(rate: low.rate)
    }
    defer { self = RefusalTrial() }
    if odds < Self.leastOdds { return .load(accepted: accepted) }
    if tried.share - low.share > 2.5 * (low.variance + tried.variance).squareRoot() {
      // Some are refused at any rate, and more at the higher.
      return .notLoad(share: low, rate: tried.rate * (1 - tried.share) / (1 - low.share), origin: 0)
    }
    return .notLoad(share: all, rate: tried.rate, origin: origin)
  }
}

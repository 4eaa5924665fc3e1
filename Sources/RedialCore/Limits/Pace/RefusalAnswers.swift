/// The answers to the requests of some rounds, as sums.
struct RefusalAnswers: Sendable, Hashable {
  private(set) var requests = 0.0
  private(set) var refused = 0.0
  /// The time in which the requests started.
  private(set) var seconds = 0.0

  init() {}

  /// - Parameter rate: In requests per second.
  init(requests: Int, refused: Int, rate: Double) {
    self.requests = Double(requests)
    self.refused = Double(refused)
    seconds = rate > 0 ? Double(requests) / rate : 0
  }

  /// Requests per second; 0 without requests.
  var rate: Double { seconds > 0 ? requests / seconds : 0 }
  /// The share that was refused; 0 without requests.
  var share: Double { requests > 0 ? refused / requests : 0 }
  /// The share if two more are accepted, so that few answers do not show extremes.
  var cautious: Double { refused / (requests + 2) }
  /// How far the share may be off by chance, as the square of its standard deviation.
  var variance: Double {
    let share = (refused + 1) / (requests + 2)
    return share * (1 - share) / (requests + 2)
  }

  /// Adds answers. What is older than the last `most` requests counts less.
  mutating func add(_ more: RefusalAnswers, most: Double) {
    requests += more.requests
    refused += more.refused
    seconds += more.seconds
    guard requests > most else { return }
    let share = most / requests
    requests = most
    refused *= share
    seconds *= share
  }

  /// How likely such a number of refusals is if each request is refused with a probability, as a logarithm to the
  /// base 2, less what does not depend on the probability.
  func likelihood(_ probability: Double) -> Double {
    let p = min(max(probability, 1e-6), 1 - 1e-6)
    return refused * Elementary.log2(p) + (requests - refused) * Elementary.log2(1 - p)
  }

  /// By how much their own share is more likely than another, as a logarithm to the base 2.
  func evidence(against probability: Double) -> Double { likelihood(share) - likelihood(probability) }
}

import RedialCore
import RedialModel
import RedialText

/// The behaviour of the misbehaving server. Options set it for all requests, a request's query for that request.
struct FlakyBehaviour: Sendable {
  /// How many requests of a key fail before they succeed.
  var fail = 0
  /// The probability that a request fails, 0...1.
  var failRate = 0.0
  /// The statuses of a key's requests in order, the last for all further ones; empty for none.
  var sequence: [Int] = []
  /// The status of a failure.
  var status = 503
  /// How long an answer takes.
  var delay = Duration.zero
  /// The probability that the connection is reset in place of an answer, 0...1.
  var resetRate = 0.0
  /// The `Retry-After` of a failure; nil for none.
  var retryAfter: String?
  /// The seed of all random values.
  var seed: UInt64 = 1

  /// The behaviour for one request.
  enum Verdict: Sendable, Equatable {
    case answer(Int)
    case reset
  }

  /// The names of ``set(_:_:)``, with the forms of their values.
  static let names: [(name: String, form: String, summary: String)] = [
    ("fail", "COUNT", "How many requests with one key fail before the first success."),
    ("fail-rate", "0...1", "Probability that a request fails."),
    ("sequence", "STATUS,STATUS,…", "Statuses for the requests with one key, in order; the last one repeats."),
    ("status", "STATUS", "Status of a failed request [503]."),
    ("delay", "DURATION", "How long an answer takes."),
    ("reset-rate", "0...1", "Probability that the connection is reset instead of answered."),
    ("retry-after", "VALUE", "Value of Retry-After in a failed answer."),
    ("seed", "NUMBER", "Seed of the random numbers; the same seed gives the same failures [1]."),
  ]

  /// Sets one value; false if there is no such name or the value is invalid.
  mutating func set(_ name: String, _ value: String) -> Bool {
    switch name {
    case "fail": return assign(Int(value).flatMap { $0 >= 0 ? $0 : nil }, to: \.fail)
    case "fail-rate": return assign(Self.rate(value), to: \.failRate)
    case "reset-rate": return assign(Self.rate(value), to: \.resetRate)
    case "status": return assign(Self.status(value), to: \.status)
    case "sequence":
      let statuses = value.split(separator: ",").map { Self.status(String($0)) }
      let known = statuses.compactMap { $0 }
      return assign(known.count == statuses.count && !known.isEmpty ? known : nil, to: \.sequence)
    case "delay": return assign(DurationText.parse(value), to: \.delay)
    case "retry-after":
      retryAfter = value
      return !value.isEmpty && value.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
    case "seed": return assign(UInt64(value), to: \.seed)
    default: return false
    }
  }

  /// The behaviour for the `hit`-th request, from 1, of a key. The same key, hit and seed always get the same.
  func verdict(key: String, hit: Int) -> Verdict {
    var random = RandomSource(seed: seed ^ FNV1a(key).value &+ UInt64(hit))
    let (resets, fails) = (random.unitInterval() < resetRate, random.unitInterval() < failRate)
    if resets { return .reset }
    if !sequence.isEmpty { return .answer(sequence[min(hit, sequence.count) - 1]) }
    return .answer(hit <= fail || fails ? status : 200)
  }

  private mutating func assign<Value>(_ value: Value?, to path: WritableKeyPath<FlakyBehaviour, Value>) -> Bool {
    guard let value else { return false }
    self[keyPath: path] = value
    return true
  }

  private static func rate(_ text: String) -> Double? {
    Double(text).flatMap { (0...1).contains($0) ? $0 : nil }
  }

  private static func status(_ text: String) -> Int? {
    Int(text).flatMap { (200...599).contains($0) ? $0 : nil }
  }
}

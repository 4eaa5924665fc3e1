internal import RedialCore
internal import RedialModel
internal import RedialText

/// What a forecast on live traffic is asked: the real values, except for those that are given.
struct ForecastQuestion: Sendable, Hashable {
  /// When the target returns; nil for now.
  var returnsAt: Timestamp?
  /// Attempts per second.
  var rate: Double?
  /// Attempts in flight.
  var concurrency: Int?
  /// New calls per second.
  var arrivals: Double?
  /// Requests per second that the target can process.
  var capacity: Double?

  /// How far ahead a target may return.
  private static let furthest = Duration.seconds(7 * 86_400)

  /// The real values.
  init() {}

  /// Reads a question.
  ///
  /// - Throws: A problem that names the wrong parameter.
  init(parameters query: String?, at now: Timestamp) throws(Problem) {
    var parameters = try QueryParameters(query)
    if let text = parameters.take("returnsAt") { returnsAt = try Self.time(text, at: now) }
    rate = try parameters.takeNumber("rate", in: 0.001...1_000_000)
    arrivals = try parameters.takeNumber("arrivals", in: 0...1_000_000)
    capacity = try parameters.takeNumber("capacity", in: 0.001...1_000_000)
    if let text = parameters.take("concurrency") {
      guard let number = Int(text), (1...100_000).contains(number) else {
        throw QueryParameters.problem("concurrency", "must be a whole number from 1 to 100000")
      }
      concurrency = number
    }
    try parameters.finish()
  }

  private static func time(_ text: String, at now: Timestamp) throws(Problem) -> Timestamp {
    let time = TimestampText.parse(text) ?? DurationText.parse(text).map { now + $0 }
    guard let time, time >= now, time - now <= furthest else {
      throw QueryParameters.problem(
        "returnsAt", "must be a time from now to 7 days ahead, such as 2026-12-01T14:00:00Z, or a duration such as 10m")
    }
    return time
  }
}

extension QueryParameters {
  /// Removes a number; nil if there is none.
  ///
  /// - Throws: A problem that names the parameter.
  fileprivate mutating func takeNumber(_ name: String, in range: ClosedRange<Double>) throws(Problem) -> Double? {
    guard let text = take(name) else { return nil }
    guard let number = Double(text), range.contains(number) else {
      throw Self.problem(name, "must be a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }
}

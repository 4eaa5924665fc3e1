internal import HTTPServer
internal import RedialEngine
internal import RedialForecast
internal import RedialModel
internal import RedialStore

/// Work that only computes; and forecasts on live traffic: the engine says how the target is, a query lane reads its
/// backlog, and the forecast lane simulates.
final class Forecasting: Sendable {
  let limits: ForecastLimits
  let watch = ForecastWatch()
  private let lane: ForecastLane
  private let targets: TargetAnswers
  private let clock: Clock

  private var engine: EngineLane { targets.engine }
  private var queries: Queries { targets.queries }

  /// The maximum number of attempts that are simulated for one forecast: a tenth of a second of one core.
  private static let mostAttempts = 20_000

  init(_ limits: ForecastLimits, _ targets: TargetAnswers, _ clock: Clock) {
    (self.limits, self.targets, self.clock) = (limits, targets, clock)
    lane = ForecastLane(maxPerKey: limits.maxForecastsPerKey, maxWaiting: limits.maxForecasts)
  }

  /// Answers with the result of a computation that needs no store, on the forecast lane.
  func answer(_ responder: HTTPResponder, for caller: Caller, _ body: @escaping @Sendable () -> HTTPResponse) {
    let refusal = lane.run(for: caller.admission) { [queries] in queries.respond(responder, body()) }
    if let refusal { queries.respond(responder, Answer.problem(refusal.problem)) }
  }

  /// Answers with a forecast for a target.
  func show(_ question: ForecastQuestion, of key: TargetKey, for caller: Caller, _ responder: HTTPResponder) {
    targets.find(key, responder) { [self] target in
      queries.answer(responder) { [self] () -> HTTPResponse? in
        let prepared = try prepare(question, target)
        let most = min(Self.mostAttempts, limits.maxSimulationAttempts)
        answer(responder, for: caller) { [watch] in
          let forecast = prepared.computed(mostAttempts: most)
          return Answer.json(capacity: 8 * 1024) { forecast.write(accuracy: watch.accuracy(of: key), to: &$0) }
        }
        return nil
      }
    }
  }

  /// Makes forecasts from now on, to learn how right they are.
  func start() {
    watch.start { [weak self] targets in
      self?.engine.ask {
        $0.glance(targets)
      } then: { [weak self] found in
        guard let self else { return }
        for key in watch.look(at: found, of: targets, at: clock.now) { learn(from: key) }
      }
    }
  }

  /// Makes a forecast that nobody has asked for. If too much else waits, there is none.
  private func learn(from key: TargetKey) {
    engine.ask {
      $0.describe(key)
    } then: { [weak self] target in
      guard let self, let target else { return }
      queries.run { [self] in
        let prepared = try prepare(ForecastQuestion(), target)
        let most = min(Self.mostAttempts, limits.maxSimulationAttempts)
        _ = lane.run(for: .nobody) { [watch] in watch.add(prepared.computed(mostAttempts: most)) }
      } failure: { _ in
      }
    }
  }

  /// Reads the rest of what a forecast needs.
  private func prepare(_ question: ForecastQuestion, _ target: TargetSnapshot) throws(StoreError) -> TargetForecast {
    let sample = try BacklogSample(of: target.key, from: queries.reader, at: target.time)
    return TargetForecast(question, try targets.withStoredCalls(target), sample)
  }
}

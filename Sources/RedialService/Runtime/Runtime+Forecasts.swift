internal import HTTPServer
internal import RedialEngine
internal import RedialForecast
internal import RedialModel
internal import RedialStore

/// Forecasts on live traffic: the engine says how the target is, a query lane reads its backlog, and the forecast lane
/// simulates.
extension Runtime {
  /// The maximum number of attempts that are simulated for one forecast: a fifth of a second of one core.
  private static let mostAttempts = 100_000

  /// Answers with a forecast for a target.
  func showForecast(
    _ question: ForecastQuestion, of key: TargetKey, for caller: Caller, _ responder: HTTPResponder
  ) {
    withTarget(key, responder) { [weak self] target in
      guard let self else { return }
      query(responder) { [self] () -> HTTPResponse? in
        let prepared = try prepare(question, target)
        let most = min(Self.mostAttempts, forecastLimits.maxSimulationAttempts)
        forecast(responder, for: caller) { [forecastWatch] in
          let forecast = prepared.computed(mostAttempts: most)
          return Answer.json(capacity: 8 * 1024) {
            forecast.write(accuracy: forecastWatch.accuracy(of: key), to: &$0)
          }
        }
        return nil
      }
    }
  }

  /// Makes forecasts from now on, to learn how right they are.
  func startForecasts() {
    forecastWatch.start { [weak self] targets in
      self?.ask {
        $0.glance(targets)
      } then: { [weak self] found in
        guard let self else { return }
        for key in forecastWatch.look(at: found, of: targets, at: clock.now) { makeForecast(of: key) }
      }
    }
  }

  /// Makes a forecast that nobody has asked for. If too much else waits, there is none.
  private func makeForecast(of key: TargetKey) {
    ask {
      $0.describe(key)
    } then: { [weak self] target in
      guard let self, let target else { return }
      query { [self] in
        let prepared = try prepare(ForecastQuestion(), target)
        let most = min(Self.mostAttempts, forecastLimits.maxSimulationAttempts)
        _ = forecasts.run(for: .nobody) { [forecastWatch] in
          forecastWatch.add(prepared.computed(mostAttempts: most))
        }
      } failure: { _ in
      }
    }
  }

  /// Reads the rest of what a forecast needs.
  private func prepare(
    _ question: ForecastQuestion, _ target: TargetSnapshot
  ) throws(StoreError) -> TargetForecast {
    let sample = try BacklogSample(of: target.key, from: reader, at: target.time)
    return TargetForecast(question, try withStoredCalls(target), sample)
  }
}

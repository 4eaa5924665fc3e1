internal import Dispatch
internal import HTTPServer
internal import RedialEngine
internal import RedialJSON
internal import RedialModel
internal import RedialStore

/// How the engine's counts reach the store and clients.
final class StatisticsGathering: Sendable {
  private let statistics = CallStatistics()
  private let engine: EngineLane
  private let changes: Changes
  private let queries: Queries
  private let clock: Clock

  init(_ engine: EngineLane, _ changes: Changes, _ queries: Queries, _ clock: Clock) {
    (self.engine, self.changes, self.queries, self.clock) = (engine, changes, queries, clock)
  }

  /// Collects and writes the counts at intervals, from now on.
  func start() {
    statistics.start { [weak self] in self?.gather { [weak self] in self?.write() } }
  }

  /// Collects no more.
  func stop() { statistics.stop() }

  /// Writes the counts a last time; the engine and the store must still be there.
  func end() {
    stop()
    let gathered = DispatchSemaphore(value: 0)
    gather { gathered.signal() }
    guard gathered.wait(timeout: .now() + .seconds(1)) == .success else { return }
    write()
  }

  /// Answers with the statistics of a namespace.
  func show(_ namespace: Namespace, _ responder: HTTPResponder) {
    gather { [self] in
      queries.answer(responder) { [self] in
        let windows = try statistics.windows(of: namespace, at: clock.now, from: queries.reader)
        return Answer.json(capacity: 16 * 1024) { writer in
          writer.beginObject()
          writer.key("data")
          writer.beginArray()
          for window in windows { window.write(to: &writer) }
          writer.endArray()
          writer.endObject()
        }
      }
    }
  }

  /// Asks the engine for its counts since the last time.
  private func gather(then: @escaping @Sendable () -> Void) {
    engine.ask {
      $0.takeTallies()
    } then: { [statistics, clock] tallies in
      statistics.add(tallies, at: clock.now)
      then()
    }
  }

  private func write() {
    guard statistics.hasGathered else { return }
    changes.keep { [statistics] in
      statistics.beginWriting()
    } then: { [statistics] in
      // Counts that may have been added are not added again: rather too few than too many.
      statistics.endWriting(isWritten: $0.map { $0.kind == .outcomeUnknown } ?? true)
    }
  }
}

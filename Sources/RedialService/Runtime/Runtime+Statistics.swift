internal import Dispatch
internal import HTTPServer
internal import RedialEngine
internal import RedialModel
internal import RedialStore
internal import RedialJSON

/// How the engine's counts reach the store and clients.
extension Runtime {
  /// Collects and writes the counts at intervals, from now on.
  func startStatistics() {
    statistics.start { [weak self] in self?.gatherStatistics { [weak self] in self?.writeStatistics() } }
  }

  /// Writes the counts a last time; the engine and the store must still be there.
  func endStatistics() {
    statistics.stop()
    let gathered = DispatchSemaphore(value: 0)
    gatherStatistics { gathered.signal() }
    guard gathered.wait(timeout: .now() + .seconds(1)) == .success else { return }
    writeStatistics()
  }

  /// Answers with the statistics of a namespace.
  func showStatistics(of namespace: Namespace, _ responder: HTTPResponder) {
    gatherStatistics { [weak self] in
      guard let self else { return }
      query(responder) { [self] in
        let windows = try statistics.windows(of: namespace, at: clock.now, from: reader)
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
  private func gatherStatistics(then: @escaping @Sendable () -> Void) {
    ask {
      $0.takeTallies()
    } then: { [weak self] tallies in
      if let self { statistics.add(tallies, at: clock.now) }
      then()
    }
  }

  private func writeStatistics() {
    guard statistics.hasGathered else { return }
    keep { [statistics] in
      statistics.beginWriting()
    } then: { [statistics] in
      // Counts that may have been added are not added again: rather too few than too many.
      statistics.endWriting(isWritten: $0.map { $0.kind == .outcomeUnknown } ?? true)
    }
  }
}

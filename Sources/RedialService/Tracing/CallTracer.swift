internal import Dispatch
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore
internal import Synchronization
internal import RedialText

/// Follows single calls for a span exporter, and for a log at the level debug.
///
/// What it reports is already on disk. It remembers calls while their attempts are in flight, because the store does
/// not get the call when an attempt ends. Calls that end in another way are read from the store, on its own lane.
final class CallTracer: Sendable {
  private struct InFlight {
    var attempt: Int
    var subject: TracedCall
  }

  let sampling: TraceSampling
  private let exporter: SpanExporter?
  private let log: Log
  private let reader: any CallReader
  private let queue = DispatchQueue(label: "redial.trace", qos: .utility)
  /// By call, one for each attempt in flight.
  private let inFlight = Mutex<[CallID: InFlight]>([:])
  private let waitingLines = Atomic(0)

  /// The maximum number of events that wait to be logged; more are dropped.
  private static let maxWaitingLines = 10_000

  /// - Returns: Nil if nobody wants to see single calls, so that they cost nothing.
  init?(exporter: SpanExporter?, sampling: TraceSampling, log: Log, reader: any CallReader) {
    guard exporter != nil || log.level <= .debug else { return nil }
    self.exporter = exporter
    self.sampling = exporter == nil ? .none : sampling
    self.log = log
    self.reader = reader
  }

  /// Records attempts that begin.
  func starting(_ starts: [AttemptStart]) {
    let entries = starts.map { start in
      (start.call.id, InFlight(attempt: start.number, subject: TracedCall(start.call, sampling: sampling)))
    }
    inFlight.withLock { inFlight in for (id, entry) in entries { inFlight[id] = entry } }
  }

  /// Records the results of calls, once they are on disk.
  func committed(_ writes: [StoreWrite]) {
    var events: [TracedEvent] = []
    inFlight.withLock { inFlight in
      for case .update(let id, let progress, let attempt) in writes where attempt != nil || progress.state.isFinal {
        var event = TracedEvent(call: id, progress: progress, attempt: attempt)
        event.attempt?.response = nil
        // The next attempt may be in flight already: it starts with the same commit.
        if let entry = inFlight[id], attempt == nil || attempt?.number == entry.attempt {
          event.subject = entry.subject
          inFlight[id] = nil
        } else {
          event.subject = inFlight[id]?.subject
        }
        events.append(event)
      }
    }
    if events.isEmpty { return }
    // A webhook is not part of its call's trace: it reports a span that has ended.
    exporter?.add(events.filter { $0.subject.map { $0.kind == .call && $0.context.isSampled } ?? true })
    if log.level <= .debug { write(events) }
  }

  /// Returns when all that is on disk by now is logged, or after a second.
  func close() {
    let logged = DispatchSemaphore(value: 0)
    queue.async { logged.signal() }
    _ = logged.wait(timeout: .now() + .seconds(1))
  }

  // MARK: The log

  private func write(_ events: [TracedEvent]) {
    guard waitingLines.add(events.count, ordering: .relaxed).newValue <= Self.maxWaitingLines else {
      waitingLines.subtract(events.count, ordering: .relaxed)
      return
    }
    queue.async { [self] in
      for event in events {
        guard let subject = event.subject ?? TracedCall(reading: event.call, from: reader, sampling: sampling) else {
          continue
        }
        log.write(event, of: subject)
      }
      waitingLines.subtract(events.count, ordering: .relaxed)
    }
  }
}

extension Log {
  /// Logs a result: an attempt that ended, and its call if that ended.
  fileprivate func write(_ event: TracedEvent, of subject: TracedCall) {
    let names: [(StaticString, String)] =
      [("callId", event.call.description), ("traceId", subject.context.trace.description)]
      + Self.fields(of: subject.outline.target) + [("kind", "\(subject.kind.name)")]
    if let attempt = event.attempt {
      var values = names + [("attempt", "\(attempt.number)"), ("outcome", "\(attempt.outcome.name)")]
      if let status = attempt.status { values.append(("status", "\(status)")) }
      if let failure = attempt.failure { values.append(("error", failure.code)) }
      values.append(("duration", DurationText.format(attempt.duration)))
      if let decision = attempt.decision { values.append(("decision", String(decoding: decision.json, as: UTF8.self))) }
      write(.debug, "attemptEnded", values)
    }
    guard event.progress.state.isFinal else { return }
    var values =
      names + [
        ("state", event.progress.state.visible.rawValue), ("attempt", "\(event.progress.attempts)"),
      ]
    if let reason = event.progress.failure { values.append(("reason", "\(reason.name)")) }
    write(.debug, "callEnded", values)
  }
}

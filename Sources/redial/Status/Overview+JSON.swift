import RedialJSON
import RedialModel
import RedialText

extension Overview {
  /// The overview as one line of JSON; what could not be read is null.
  var json: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("at", at)
    writer.key("ready")
    switch readiness {
    case .ready: writer.bool(true)
    case .notReady: writer.bool(false)
    case nil: writer.null()
    }
    writer.key("reason")
    if case .notReady(let reason?) = readiness { writer.string(reason) } else { writer.null() }
    writer.key("targets")
    writeTroubled(to: &writer)
    writer.key("failed")
    writeFailures(to: &writer)
    writer.key("last15m")
    writeEnded(to: &writer)
    writer.key("waiting")
    writeWaiting(to: &writer)
    writer.key("service")
    writeService(to: &writer)
    writer.key("leftOut")
    writer.beginArray()
    for one in leftOut {
      writer.beginObject()
      writer.field("what", one.what)
      writer.field("why", one.why)
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
    return writer.bytes
  }

  private func writeTroubled(to writer: inout JSONWriter) {
    guard targets != nil else { return writer.null() }
    writer.beginArray()
    for target in troubled {
      writer.beginObject()
      writer.field("target", target.key)
      writer.field("state", target.condition.rawValue)
      writer.field("since", target.outage?.since)
      writer.field("cause", target.outage?.cause)
      writer.field("closedAt", target.outage?.closedAt)
      writer.key("failing")
      writer.beginArray()
      for part in failing[target.key] ?? [] { writer.string(part) }
      writer.endArray()
      writer.field("waiting", target.waiting)
      writer.field("isComplete", target.isComplete)
      writer.field("oldestDueAt", target.oldestDueAt)
      writer.field("nextProbeAt", target.nextProbeAt)
      writer.endObject()
    }
    writer.endArray()
  }

  private func writeFailures(to writer: inout JSONWriter) {
    guard let failures else { return writer.null() }
    writer.beginObject()
    writer.field("calls", failures.calls)
    writer.field("isComplete", failures.isComplete)
    writer.field("lastAt", failures.lastAt)
    writer.key("issues")
    writer.beginArray()
    for issue in failures.open { writer.string(issue.id) }
    writer.endArray()
    writer.endObject()
  }

  private func writeEnded(to writer: inout JSONWriter) {
    guard let ended else { return writer.null() }
    writer.beginObject()
    writer.field("succeeded", ended.succeeded)
    writer.field("retried", ended.retried)
    writer.field("failed", ended.failed)
    writer.field("cancelled", ended.cancelled)
    writer.key("successRate")
    if ended.judged > 0 { writer.double(Double(ended.succeeded) / Double(ended.judged)) } else { writer.null() }
    writer.key("timeToSuccess")
    if let times = ended.timeToSuccess {
      writer.beginObject()
      writer.field("p50", times.p50)
      writer.field("p99", times.p99)
      writer.endObject()
    } else {
      writer.null()
    }
    writer.field("attempts", ended.attempts)
    writer.field("failedAttempts", ended.failedAttempts)
    writer.endObject()
  }

  private func writeWaiting(to writer: inout JSONWriter) {
    guard let targets else { return writer.null() }
    writer.beginObject()
    writer.field("total", waits.values.reduce(0, +))
    writer.field("late", late)
    writer.field("isComplete", isComplete)
    writer.field("inFlight", targets.reduce(0) { $0 + $1.inFlight })
    writer.key("byReason")
    writer.beginObject()
    for (reason, count) in waits.sorted(by: { $0.key < $1.key }) {
      writer.key(reason)
      writer.integer(Int64(count))
    }
    writer.endObject()
    writer.endObject()
  }

  private func writeService(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("version", service.version)
    writer.field("store", service.store)
    writer.field("instances", service.instances)
    writer.field("startedAt", service.startedAt)
    writer.key("lostCommits")
    if let loss = service.lostCommits {
      writer.beginObject()
      writer.field("at", loss.at)
      writer.field("made", loss.made)
      writer.field("found", loss.found)
      writer.endObject()
    } else {
      writer.null()
    }
    writer.endObject()
  }
}

extension JSONWriter {
  /// A member that is null if it is not known.
  fileprivate mutating func field(_ name: StaticString, _ value: Int?) {
    key(name)
    if let value { integer(Int64(value)) } else { null() }
  }
}

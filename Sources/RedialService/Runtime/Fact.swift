internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore

/// Something that has happened. All observers see the same.
enum Fact: Sendable {
  /// Changes are on disk.
  case committed([StoreWrite])
  /// The engine reports something.
  case notice(Notice, at: Timestamp)
  /// Something has happened to a target that listeners are shown.
  case event(TargetEvent)
  /// The store reports something that it has done, or met, by itself.
  case store(StoreNotice)
  /// A webhook endpoint was disabled because of its deliveries. The rest is how it is shown: its URL without secrets, and
  /// all of it as JSON.
  case endpointDisabled(WebhookEndpoint, url: String, json: [UInt8], at: Timestamp)
}

/// Follows what happens, in its order.
protocol Observer: Sendable {
  /// Called on the store's lane for what is on disk, otherwise on any.
  func saw(_ fact: Fact)
}

/// All observers, in their order.
struct Observers: Sendable {
  /// Clients ask for the metrics after their answer, which must then count their call.
  let beforeReplies: [any Observer]
  /// A client that waits for the end of the call that it has just submitted is in a table after its reply.
  let afterReplies: [any Observer]

  /// Tells all of them.
  func tell(_ fact: Fact) {
    for observer in beforeReplies { observer.saw(fact) }
    for observer in afterReplies { observer.saw(fact) }
  }
}

extension TargetStandings: Observer {
  func saw(_ fact: Fact) {
    if case .notice(let notice, let now) = fact { record(notice, at: now) }
  }
}

extension Metrics: Observer {
  func saw(_ fact: Fact) {
    switch fact {
    case .committed(let writes): committed(writes)
    case .store(.damaged): count { $0.damaged += 1 }
    case .store(.setAside(let calls)): countSetAside(calls.count)
    case .store(.checkpoint(let failure)): count { $0.isCheckpointFailing = failure != nil }
    case .store(.commitsLost(let loss, _)): count { $0.lostCommits += Int(loss.count) }
    case .store, .notice, .event, .endpointDisabled: break
    }
  }
}

extension Log: Observer {
  func saw(_ fact: Fact) {
    switch fact {
    case .committed, .event: break
    case .notice(let notice, _): write(notice)
    case .store(let notice): write(notice)
    case .endpointDisabled(let endpoint, let url, _, _):
      write(
        .warning, "webhookEndpointDisabled",
        [("id", endpoint.id), ("url", url), ("reason", endpoint.disabledReason?.rawValue ?? "")])
    }
  }
}

extension EngineLane: Observer {
  func saw(_ fact: Fact) {
    guard case .store(let notice) = fact else { return }
    switch notice {
    case .setAside(let calls): post(calls.map { .setAside(1, in: $0.namespace) })
    case .shortage(let isShort, _): post(.room(isShort: isShort))
    case .misplaced(let failure): post(.storeMisplaced(failure != nil))
    case .keyMissing(let failure): post(.keyMissing(failure != nil))
    case .damaged, .targetDamaged, .checkpoint, .clockSetBack, .commitsLost, .noStandby: break
    }
  }
}

extension EndTable: Observer {
  func saw(_ fact: Fact) {
    switch fact {
    case .committed(let writes): committed(writes)
    case .store(.setAside(let calls)): ended(calls.map(\.id))
    case .store, .notice, .event, .endpointDisabled: break
    }
  }
}

extension EventFeed: Observer {
  func saw(_ fact: Fact) {
    switch fact {
    case .committed(let writes): committed(writes)
    case .event(let event): record(event)
    case .endpointDisabled(let endpoint, _, let json, let now): recordDisabled(endpoint, data: json, at: now)
    case .store, .notice: break
    }
  }
}

extension CallTracer: Observer {
  func saw(_ fact: Fact) {
    if case .committed(let writes) = fact { committed(writes) }
  }
}

extension EndWatch: Observer {
  func saw(_ fact: Fact) {
    if case .committed(let writes) = fact { committed(writes) }
  }
}

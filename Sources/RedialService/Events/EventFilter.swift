internal import RedialCore
internal import RedialModel

/// Selects events for a listener; a part that is nil or empty selects all.
struct EventFilter: Sendable {
  var types: Set<EventType> = []
  var target: TargetKey?
  var call: CallID?
  /// The kind of calls; nil for any.
  var callKind: CallKind? = .call
  var labels: [CallSpec.Label] = []
  /// At least so many attempts of the call had begun.
  var attempts: Int?
  /// The call waited for this.
  var waitingOn: WaitReason?

  func admits(_ event: StreamedEvent) -> Bool {
    if !types.isEmpty, !types.contains(event.type) { return false }
    if let target, target != event.target { return false }
    if let of = event.call, let callKind, of.kind != callKind { return false }
    if let call, call != event.call?.id { return false }
    if !labels.allSatisfy(event.labels.contains) { return false }
    if let attempts, event.attempts < attempts { return false }
    if let waitingOn, waitingOn != event.waitingOn { return false }
    return true
  }
}

extension EventFilter {
  /// Reads the selection of events.
  ///
  /// - Throws: A problem that names the wrong parameter.
  init(taking parameters: inout QueryParameters, _ caller: Caller) throws(Problem) {
    for name in (parameters.take("type") ?? "").split(separator: ",") {
      guard let type = EventType.streamed.first(where: { $0.rawValue == name }) else {
        let all = EventType.streamed.map(\.rawValue).joined(separator: ", ")
        throw QueryParameters.problem("type", "must be one or more of these, separated by commas: \(all)")
      }
      types.insert(type)
    }
    target = parameters.take("target").map(caller.target)
    if let text = parameters.take("call") {
      guard let id = CallID(text) else { throw QueryParameters.problem("call", "must be the id of a call") }
      call = id
    }
    if let text = parameters.take("kind") {
      guard let kind = CallKind.allCases.first(where: { $0.name == text }) else {
        throw QueryParameters.problem("kind", "must be call or webhook")
      }
      callKind = kind
    }
    // Three conditions of a list hold for a call as an event shows it.
    var shown = CallFilter()
    for name in ["attempts", "waitingOn"] {
      guard let text = parameters.take(name) else { continue }
      if let fault = shown.set(name, to: text, at: .epoch) { throw QueryParameters.problem(name, fault) }
    }
    try parameters.takeLabels(of: &shown)
    (attempts, waitingOn, labels) = (shown.attempts, shown.waitingOn, shown.labels)
    // The others ask for what no event says, such as a time from now.
    for name in CallFilter.names where parameters.take(name) != nil {
      throw QueryParameters.problem(
        name, "selects calls of a list, and no events; type, target, call, kind, label, attempts and waitingOn do")
    }
  }
}

internal import RedialCore
@testable internal import RedialEngine
internal import RedialModel

/// Sees to it that namespaces share one engine fairly: none waits for more than its turn, none has everything, and what
/// is counted of each is what there is of it.
struct NamespaceWatch {
  /// The namespaces of a run's targets, the first of which are those of its workload.
  static let names = [Namespace.default, Namespace("acme") ?? .default, Namespace("other") ?? .default]

  /// By namespace that waits for nothing but its turn, how many attempts others have begun since it does.
  private var passedOver: [Int: [Int: Int]] = [:]

  /// Looks at a turn that has been taken.
  ///
  /// - Returns: What is not as it must be.
  mutating func turn(_ starts: [AttemptStart], _ engine: Engine) -> String? {
    if let fault = Self.count(engine) { return fault }
    guard engine.isShared else { return nil }
    if let fault = share(engine) { return fault }
    return fairness(starts, engine)
  }

  /// What the engine has counted of its namespaces, against what it holds.
  private static func count(_ engine: Engine) -> String? {
    let spaces = engine.namespaces
    var held = Array(repeating: (calls: 0, running: 0, ready: 0), count: spaces.count)
    for call in engine.calls.values {
      let place = engine.targets[call.target].namespace
      held[place].calls += 1
      if call.isRunning { held[place].running += 1 }
      if case .ready = call.phase { held[place].ready += 1 }
    }
    for (place, space) in spaces.enumerated() {
      let counted = (calls: space.held, running: space.inFlight, ready: space.ready)
      if counted != held[place] { return "the engine has \(held[place]) of \(space.namespace) and counts \(counted)" }
      let busy = engine.knownTargets.count { engine.targets[$0].namespace == place && engine.targets[$0].ready > 0 }
      if busy != space.busyTargets { return "\(space.namespace) has \(busy) busy targets, not \(space.busyTargets)" }
      if space.unfinished < 0 { return "\(space.namespace) has \(space.unfinished) calls that have not ended" }
    }
    let unfinished = spaces.reduce(0) { $0 + $1.unfinished }
    if unfinished != engine.unfinished { return "of \(engine.unfinished) calls, \(unfinished) are of namespaces" }
    return nil
  }

  /// With a share of a half, one namespace leaves something free.
  private func share(_ engine: Engine) -> String? {
    guard engine.settings.maxInFlight > 1, engine.settings.namespaceShare == 0.5 else { return nil }
    let greedy = engine.namespaces.first { $0.inFlight >= engine.settings.maxInFlight }
    return greedy.map { "\($0.namespace) has all \($0.inFlight) attempts that may be under way" }
  }

  /// Between two attempts of a namespace that waits for nothing but its turn, each other one begins as many as it took
  /// looks at the targets of the one, at most.
  private mutating func fairness(_ starts: [AttemptStart], _ engine: Engine) -> String? {
    let places = starts.map { engine.namespaceIndex[$0.call.spec.namespace] ?? 0 }
    for (waiting, others) in passedOver {
      var others = others
      for place in places {
        if place == waiting { others = [:] } else { others[place, default: 0] += 1 }
      }
      passedOver[waiting] = others
      let bound = engine.namespaces[waiting].targets + 1
      if let ahead = others.first(where: { $0.value > bound }) {
        return "\(engine.namespaces[ahead.key].namespace) began \(ahead.value) attempts while "
          + "\(engine.namespaces[waiting].namespace) waited for its turn"
      }
    }
    for place in engine.namespaces.indices {
      if !Self.waitsForItsTurn(place, engine) {
        passedOver[place] = nil
      } else if passedOver[place] == nil {
        passedOver[place] = [:]
      }
    }
    return nil
  }

  /// Whether a namespace has a call that nothing but the others' attempts keeps from beginning.
  private static func waitsForItsTurn(_ place: Int, _ engine: Engine) -> Bool {
    guard engine.inFlight >= engine.settings.maxInFlight, !engine.isDraining, engine.trouble == nil else {
      return false
    }
    let space = engine.namespaces[place]
    // By the share that it will have when the first attempt of another ends.
    guard Double(space.inFlight) * (1 - engine.settings.namespaceShare) < engine.settings.namespaceShare else {
      return false
    }
    var copy = engine
    return space.rotation.contents.contains { index in
      copy.targets[index].breaker.state == .closed && copy.hasLeave(index) && copy.firstReady(of: index) != nil
    }
  }
}

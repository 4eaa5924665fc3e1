internal import RedialCore
@testable internal import RedialEngine
internal import RedialModel

/// Checks that namespaces share one engine fairly: none waits longer than its place in the rotation requires, none uses
/// everything, and the engine's counts for each are right.
struct NamespaceWatch {
  /// The namespaces of a run's targets; the first ones are those of its workload.
  static let names = [Namespace.default, Namespace("acme") ?? .default, Namespace("other") ?? .default]

  /// A namespace that waits only for its place in the rotation.
  private struct Waiting {
    /// The first of its targets with a call that could begin, and how many of its other targets are checked before.
    var target: Int
    var ahead: Int
    /// By namespace, the attempts that others have begun since.
    var others: [Int: Int] = [:]
  }

  private var waiting: [Int: Waiting] = [:]
  private var wasShared = false

  /// Checks a step.
  ///
  /// - Returns: A violation.
  mutating func step(_ starts: [AttemptStart], _ engine: Engine) -> String? {
    if let fault = Self.count(engine) { return fault }
    defer { wasShared = engine.roster.isShared }
    guard engine.roster.isShared else {
      waiting = [:]
      return nil
    }
    // Attempts that began before there was another namespace are its own.
    if wasShared, let fault = share(starts, engine) { return fault }
    return fairness(starts, engine)
  }

  /// The engine's counts of its namespaces, compared with its calls.
  private static func count(_ engine: Engine) -> String? {
    let spaces = engine.roster.namespaces
    var held = Array(repeating: (calls: 0, running: 0, ready: 0), count: spaces.count)
    for call in engine.calls.values {
      let place = engine.roster.targets[call.target].namespace
      held[place].calls += 1
      if call.isRunning { held[place].running += 1 }
      if case .ready = call.phase { held[place].ready += 1 }
    }
    for (place, space) in spaces.enumerated() {
      let borrowed = engine.roster.places.reduce(0) { sum, index in
        let target = engine.roster.targets[index]
        return target.namespace == place ? sum + max(0, target.occupancy.inFlight - target.credit.proven) : sum
      }
      if borrowed != space.occupancy.borrowed {
        return "\(space.namespace) has borrowed \(borrowed), not \(space.occupancy.borrowed)"
      }
      let counted = (calls: space.occupancy.held, running: space.occupancy.inFlight, ready: space.occupancy.ready)
      if counted != held[place] { return "the engine has \(held[place]) of \(space.namespace) and counts \(counted)" }
      let busy = engine.roster.places.count {
        engine.roster.targets[$0].namespace == place && engine.roster.targets[$0].occupancy.ready > 0
      }
      if busy != space.occupancy.busyTargets {
        return "\(space.namespace) has \(busy) busy targets, not \(space.occupancy.busyTargets)"
      }
      // While the store fails, a refused call may have been counted whose end will be dropped. And a call that another
      // instance has put into the store may have ended here before this one sees it.
      if engine.desk.trouble == nil, engine.desk.leases.settings == nil, space.unfinished < 0 {
        return "\(space.namespace) has \(space.unfinished) calls that have not ended"
      }
    }
    if spaces.reduce(0, { $0 + $1.occupancy.borrowed }) != engine.roster.occupancy.borrowed {
      return "not \(engine.roster.occupancy.borrowed) are borrowed"
    }
    let unfinished = spaces.reduce(0) { $0 + $1.unfinished }
    if unfinished != engine.roster.unfinished {
      return "of \(engine.roster.unfinished) calls, \(unfinished) are of namespaces"
    }
    return nil
  }

  /// With a share of a half, one namespace leaves some capacity free.
  private func share(_ starts: [AttemptStart], _ engine: Engine) -> String? {
    guard engine.settings.maxInFlight > 1, engine.settings.namespaceShare == 0.5 else { return nil }
    let greedy = engine.roster.namespaces.first { space in
      space.occupancy.inFlight >= engine.settings.maxInFlight
        && starts.contains { $0.call.spec.namespace == space.namespace }
    }
    return greedy.map { "\($0.namespace) has all \($0.occupancy.inFlight) attempts that may be in flight" }
  }

  /// While a namespace waits only for its place in the rotation, each other one begins at most one attempt for each
  /// check of one of its targets, and one more.
  private mutating func fairness(_ starts: [AttemptStart], _ engine: Engine) -> String? {
    // Suspects begin whosever turn it is.
    if starts.contains(where: { $0.call.id == engine.suspects.last }) { waiting = [:] }
    let places = starts.map { engine.roster.knownPlace(of: $0.call.spec.namespace) ?? 0 }
    for place in engine.roster.namespaces.indices {
      guard var now = Self.waiting(place, engine) else {
        waiting[place] = nil
        continue
      }
      if let before = waiting[place], before.target == now.target, !places.contains(place) {
        (now.others, now.ahead) = (before.others, before.ahead)
        for other in places { now.others[other, default: 0] += 1 }
      }
      waiting[place] = now
      if let ahead = now.others.sorted(by: { $0.key < $1.key }).first(where: { $0.value > now.ahead + 1 }) {
        return "\(engine.roster.namespaces[ahead.key].namespace) began \(ahead.value) attempts while "
          + "\(engine.roster.namespaces[place].namespace) waited for its place in the rotation"
      }
    }
    return nil
  }

  /// A namespace with a call that only the attempts of others prevent from beginning.
  private static func waiting(_ place: Int, _ engine: Engine) -> Waiting? {
    guard engine.roster.occupancy.inFlight >= engine.settings.maxInFlight, !engine.isDraining,
      engine.desk.trouble == nil
    else { return nil }
    let (space, share) = (engine.roster.namespaces[place], engine.settings.namespaceShare)
    // By the share that it will have when the first attempt of another ends.
    guard Double(space.occupancy.inFlight) * (1 - share) < share else { return nil }
    var copy = engine
    // Whichever ends first, this much is free then.
    copy.roster = copy.roster.withFreeSlot()
    for (ahead, index) in copy.roster.rotation.targets(of: place).enumerated()
    where copy.roster.targets[index].breaker.state == .closed && copy.limitsAllowStart(index)
      && copy.roster.hasSlot(index, at: copy.now)
      && copy.firstReady(of: index) != nil
    {
      return Waiting(target: index, ahead: ahead)
    }
    return nil
  }
}

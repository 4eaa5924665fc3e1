/// The order in which targets are examined: alternating between namespaces, and within each between its targets. So
/// the number of targets or calls of one namespace makes no difference to the others.
///
/// Namespaces and targets are known here by their places in the roster.
struct Rotation: Sendable {
  /// A namespace, with its targets that may have a call to start.
  private struct Lane: Sendable {
    /// Whether the namespace is in the order.
    var isIn = false
    /// Each target is in it at most once.
    var targets = Queue<Int>()
    /// Targets without an attempt in flight that wait for a slot of the pool, in order.
    var newcomers = Queue<Int>()
    /// How many of them are among `targets` because the pool had a slot for them.
    var admitted = 0
  }

  /// Where a target is.
  private struct Standing: OptionSet {
    var rawValue: UInt8
    static let inRotation = Standing(rawValue: 1)
    static let crowded = Standing(rawValue: 2)
    static let newcomer = Standing(rawValue: 4)
    static let admitted = Standing(rawValue: 8)
  }

  private var order = Queue<Int>()
  private var lanes = [Lane()]
  private var standings: [Standing] = []
  /// Targets that want more slots than they have, in order.
  private var crowded = Queue<Int>()
  /// Attempts that have ended since the crowded targets were last examined.
  private var freed = 0

  /// Whether no namespace has a target to examine.
  var isEmpty: Bool { order.isEmpty }
  /// How many namespaces are in the order.
  var count: Int { order.count }
  /// How many targets want more slots than they have.
  var crowdedCount: Int { crowded.count }

  /// How many targets of a namespace wait for a slot of the pool.
  func newcomers(of lane: Int) -> Int { lanes[lane].newcomers.count }
  /// The targets of a namespace that are in the rotation, in order.
  func targets(of lane: Int) -> ArraySlice<Int> { lanes[lane].targets.contents }
  /// Whether a target is in the rotation.
  func contains(_ target: Int) -> Bool { standings[target].contains(.inRotation) }
  /// Whether a target waits for a slot of the pool.
  func isNewcomer(_ target: Int) -> Bool { standings[target].contains(.newcomer) }

  /// Adds the next namespace.
  mutating func addLane() {
    lanes.append(Lane())
  }

  /// Adds a target at a place: the next one, or one that is free.
  mutating func addTarget(_ target: Int) {
    if target == standings.count { standings.append([]) } else { standings[target] = [] }
  }

  // MARK: Order

  /// Puts a target at the end of its namespace's queue, unless it is in it, and the namespace into the order.
  mutating func enter(_ target: Int, of lane: Int) {
    guard standings[target].insert(.inRotation).inserted else { return }
    lanes[lane].targets.append(target)
    enter(lane: lane)
  }

  /// Puts a namespace at the end of the order, unless it is in it.
  mutating func enter(lane: Int) {
    guard !lanes[lane].isIn else { return }
    lanes[lane].isIn = true
    order.append(lane)
  }

  /// The next namespace; nil if there is none.
  var first: Int? { order.first }

  /// Puts the next namespace at the end of the order.
  mutating func skip() {
    if let lane = order.popFirst() { order.append(lane) }
  }

  /// Takes out the next namespace; ``takeTarget(of:)`` follows.
  mutating func removeFirst() {
    if let lane = order.popFirst() { lanes[lane].isIn = false }
  }

  /// Takes out the next target of a namespace. The namespace stays in the order while others wait there.
  mutating func takeTarget(of lane: Int) -> Int? {
    let target = lanes[lane].targets.popFirst()
    if !lanes[lane].targets.isEmpty || !lanes[lane].newcomers.isEmpty { enter(lane: lane) }
    if let target { standings[target].remove(.inRotation) }
    return target
  }

  // MARK: The pool

  /// Puts a target that wants more slots than it has into the line. Its own attempts bring it back when they end; one
  /// without any waits in its namespace for the pool.
  mutating func wait(_ target: Int, of lane: Int, hasInFlight: Bool) {
    if hasInFlight {
      if standings[target].insert(.crowded).inserted { crowded.append(target) }
    } else if standings[target].insert(.newcomer).inserted {
      lanes[lane].newcomers.append(target)
      enter(lane: lane)
    }
  }

  /// Counts an attempt that has ended.
  mutating func free() {
    freed += 1
  }

  /// Returns how many crowded targets may be examined: two for each attempt that has ended, so that the cost is limited
  /// by the number of events.
  mutating func takeFreed() -> Int {
    defer { freed = 0 }
    return 2 * freed
  }

  /// Takes out the next target that wants more slots than it has.
  mutating func takeCrowded() -> Int? {
    guard let target = crowded.popFirst() else { return nil }
    standings[target].remove(.crowded)
    return target
  }

  /// Takes out the next target of a namespace that waits for the pool.
  mutating func takeNewcomer(of lane: Int) -> Int? {
    guard let target = lanes[lane].newcomers.popFirst() else { return nil }
    standings[target].remove(.newcomer)
    return target
  }

  /// Puts a target that waited for the pool into its namespace's queue, because the pool has a slot for it.
  mutating func admit(_ target: Int, of lane: Int) {
    standings[target].formUnion([.inRotation, .admitted])
    lanes[lane].admitted += 1
    lanes[lane].targets.append(target)
  }

  /// Whether a target was admitted; it is not any more.
  mutating func takeAdmission(_ target: Int, of lane: Int) -> Bool {
    guard standings[target].remove(.admitted) != nil else { return false }
    lanes[lane].admitted -= 1
    return true
  }

  /// Whether no target of a namespace waits for the pool or has just been admitted.
  func hasNoNewcomers(_ lane: Int) -> Bool { lanes[lane].newcomers.isEmpty && lanes[lane].admitted == 0 }

  // MARK: Dropping

  /// Drops targets, because their places may soon belong to targets of other namespaces.
  mutating func drop(_ isGone: (Int) -> Bool) {
    for lane in lanes.indices {
      lanes[lane].targets.removeAll(where: isGone)
      lanes[lane].newcomers.removeAll(where: isGone)
      lanes[lane].admitted = lanes[lane].targets.contents.count { standings[$0].contains(.admitted) }
    }
    for target in standings.indices where isGone(target) { standings[target] = [] }
  }
}

/// Decides which names are looked up, and when, so that names that never get an answer leave threads for those that do.
///
/// A lookup cannot be aborted: its thread blocks until the system's resolver gives up, 10 s in most installations. So
/// the number of threads is limited, and they are shared by how a name behaved before:
/// - A name that was answered quickly last time starts as long as a thread is free.
/// - An unknown name leaves a quarter of the threads to those. Of the threads without slow lookups, such names get at
///   most a quarter at a time: however many dead names arrive at once, threads are free again in the next second.
/// - A name whose last lookup was slow may have a quarter of the threads, together with all others like it.
///
/// Of the names that wait, the newest is first: the attempts that wait for the others are closest to giving up.
struct LookupQueue {
  /// How many lookups may run at a time.
  let limit: Int
  /// The time after which a lookup is slow. Resolvers answer within tens of milliseconds, or from their cache; glibc
  /// repeats a question after 5 s.
  static let slowness = Duration.seconds(1)
  /// How many names are remembered as fast or slow before the older half is forgotten.
  static let remembered = 16_384

  /// What is known about a name.
  private enum Standing: Int, CaseIterable {
    case quick, unknown, slow
  }

  private struct Running {
    var since: ContinuousClock.Instant
    var standing: Standing
  }

  private var running: [String: Running] = [:]
  private var runningSlow = 0
  /// Waiting names, with their numbers, by standing, the newest last. Names that no longer wait are skipped.
  private var waiting = [[(name: String, number: UInt64)]](repeating: [], count: Standing.allCases.count)
  private var numbers: [String: UInt64] = [:]
  private var lastNumber: UInt64 = 0
  /// Whether names were slow, in two generations, the newer first.
  private var memory: (newer: [String: Bool], older: [String: Bool]) = ([:], [:])

  /// - Parameter limit: How many lookups may run at a time, 1 or more.
  init(limit: Int) {
    self.limit = max(1, limit)
  }

  /// Whether any names wait.
  var hasWaiting: Bool { !numbers.isEmpty }
  /// The number of names that are known to be slow or not.
  var rememberedCount: Int { memory.newer.count + memory.older.count }
  /// How many lookups are running.
  var runningCount: Int { running.count }

  /// Requests a name. Does nothing if the name is being looked up, or waits for that.
  mutating func ask(_ name: String) {
    guard running[name] == nil, numbers[name] == nil else { return }
    lastNumber += 1
    numbers[name] = lastNumber
    let standing = standing(of: name).rawValue
    waiting[standing].append((name, lastNumber))
    // Entries that no longer wait are removed before they outnumber the others.
    if waiting[standing].count > 2 * numbers.count + 64 {
      waiting[standing].removeAll { numbers[$0.name] != $0.number }
    }
  }

  /// Drops a name for which no attempt waits any more, unless its lookup is running.
  mutating func forget(_ name: String) {
    numbers[name] = nil
  }

  /// Removes the next name to look up, and counts it as running; nil if there is none now.
  mutating func next(at now: ContinuousClock.Instant) -> String? {
    for standing in Standing.allCases {
      while let last = waiting[standing.rawValue].last {
        guard numbers[last.name] == last.number else {
          waiting[standing.rawValue].removeLast()
          continue
        }
        guard hasRoom(for: standing, at: now) else { break }
        waiting[standing.rawValue].removeLast()
        numbers[last.name] = nil
        running[last.name] = Running(since: now, standing: standing)
        if standing == .slow { runningSlow += 1 }
        return last.name
      }
    }
    return nil
  }

  /// Records that the lookup of a name has ended.
  mutating func end(_ name: String, at now: ContinuousClock.Instant) {
    guard let ended = running.removeValue(forKey: name) else { return }
    if ended.standing == .slow { runningSlow -= 1 }
    if memory.newer.count >= Self.remembered / 2 { memory = ([:], memory.newer) }
    memory.newer[name] = now - ended.since >= Self.slowness
  }

  private func standing(of name: String) -> Standing {
    guard let wasSlow = memory.newer[name] ?? memory.older[name] else { return .unknown }
    return wasSlow ? .slow : .quick
  }

  private func hasRoom(for standing: Standing, at now: ContinuousClock.Instant) -> Bool {
    guard running.count < limit else { return false }
    if standing == .quick { return true }
    let most = max(1, limit - limit / 4)
    guard running.count < most else { return false }
    if standing == .slow { return runningSlow < max(1, limit / 4) }
    var young = 0
    for lookup in running.values where lookup.standing == .unknown && now - lookup.since < Self.slowness { young += 1 }
    return young < max(1, (most - (running.count - young)) / 4)
  }
}

/// The works of one session on their way to the database: which are in flight, which of them are in doubt after a lost
/// connection, and which may be sent. It decides; whoever owns it sends them and reports the outcomes.
///
/// Works that change something form a chain: each has the number after that of the one before, and the database makes
/// none unless the one before was made (``CommitStatements/fence``). So after a failure, all that are in flight behind it
/// fail too, and none that follows is sent until they have ended.
///
/// A work is `waiting`, then `inFlight`. From there it is made, fails, or is sent again: after a conflict with another
/// transaction, or after a lost connection once the database has said that it was not made. A work in flight when the
/// connection is lost is in doubt until ``resolved(through:)``. What was made then has its answer read again.
///
/// Outcomes leave in the order of submission: nothing ends before what was submitted before it.
struct CommitChain<Work> {
  /// A work in the chain.
  struct Link {
    /// The work.
    var work: Work
    /// Its place in the chain; if it changes nothing, that of the last change before it.
    let sequence: Int64
    /// Whether it changes something.
    let isChange: Bool
    /// Whether nothing else may be in flight with it.
    let isAlone: Bool
    /// How often it was sent again.
    var repetitions = 0
    /// Whether nobody knows if it was made.
    fileprivate(set) var isInDoubt = false
    /// Whether it was made, and its answer was lost.
    fileprivate(set) var wasMade = false
  }

  /// What to do next.
  enum Step {
    /// Send this.
    case send(Link)
    /// Read the answer of this again: it was made. Then call ``didAnswer()`` or ``didForget()``.
    case answer(Link)
    /// Report that this was not made, because one before it failed.
    case refuse(Work)
    /// Nothing, until something ends or comes.
    case wait
  }

  /// Maximum number of works in flight.
  let bound: Int
  /// All works without an outcome, in the order in which they came.
  private(set) var links: [Link] = []
  /// How many of the first are in flight.
  private(set) var inFlight = 0
  /// How many of those have failed and are to be sent again.
  private var returned = 0
  /// Whether one has failed, so that those in flight behind it fail too.
  private var isBroken = false
  /// Whether there is no connection.
  private(set) var isLost = true
  /// The number of the last change that was reported as made.
  private(set) var made: Int64

  /// - Parameters:
  ///   - bound: Maximum number of works in flight.
  ///   - made: The number of the last change that was made.
  init(inFlight bound: Int, after made: Int64 = 0) {
    self.bound = max(1, bound)
    self.made = made
  }

  /// Whether nothing is in flight.
  var isIdle: Bool { inFlight == 0 }
  /// Whether a work may have been made, and it was not reported.
  var isInDoubt: Bool { links.contains { $0.isInDoubt || $0.wasMade } }

  /// Adds a work behind all others.
  mutating func submit(_ work: Work, as sequence: Int64, isChange: Bool, isAlone: Bool = false) {
    links.append(Link(work: work, sequence: sequence, isChange: isChange, isAlone: isAlone))
  }

  /// The next step. Call it until it returns `wait`.
  mutating func next() -> Step {
    guard !isLost, !isBroken, returned == 0, inFlight < links.count, inFlight < bound else { return .wait }
    let link = links[inFlight]
    if link.wasMade { return inFlight == 0 ? .answer(link) : .wait }
    if inFlight > 0, link.isAlone || links[inFlight - 1].isAlone { return .wait }
    let last = links[..<inFlight].last { $0.isChange }?.sequence ?? made
    if link.isChange, link.sequence != last + 1 {
      guard inFlight == 0 else { return .wait }
      links.removeFirst()
      return .refuse(link.work)
    }
    inFlight += 1
    return .send(link)
  }

  // MARK: Ends

  /// The oldest work in flight that has not ended; nil if there is none.
  var oldest: Link? { returned < inFlight ? links[returned] : nil }

  /// The oldest work in flight was made. Returns nil if it is sent again with one before it: only a look-up can succeed
  /// behind a work that has failed, and its answer must not be reported before.
  mutating func didMake() -> Work? {
    if returned > 0 {
      assert(!links[returned].isChange, "no change is made behind one that was not")
      returned += 1
      settle()
      return nil
    }
    let link = links.removeFirst()
    inFlight -= 1
    if link.isChange { made = link.sequence }
    settle()
    return link.work
  }

  /// The oldest work in flight has failed, and nothing of it was made. Returns it, and whether it failed only because
  /// one before it had; or nil if it is sent again with that one.
  mutating func didFail() -> (work: Work, isConsequence: Bool)? {
    if returned > 0 {
      returned += 1
      settle()
      return nil
    }
    let isConsequence = isBroken
    let link = links.removeFirst()
    inFlight -= 1
    isBroken = true
    settle()
    return (link.work, isConsequence)
  }

  /// The oldest work in flight has failed, nothing of it was made, and it is sent again; all behind it are, too.
  ///
  /// - Parameter change: Changes the work before it is sent again.
  mutating func repeatOldest(_ change: (inout Work) -> Void = { _ in }) {
    guard returned < inFlight else { return }
    change(&links[returned].work)
    links[returned].repetitions += 1
    returned += 1
    settle()
  }

  private mutating func settle() {
    guard returned == inFlight else { return }
    (inFlight, returned, isBroken) = (0, 0, false)
  }

  // MARK: Connections

  /// The connection is lost. Returns the works that are in doubt since then.
  mutating func lose() -> [Work] {
    isLost = true
    var doubted: [Work] = []
    for index in 0..<inFlight where !links[index].isInDoubt {
      links[index].isInDoubt = true
      doubted.append(links[index].work)
    }
    return doubted
  }

  /// There is a connection again, and the database has said which change was made last. What was made is answered again,
  /// in its turn; the others in flight are sent again.
  mutating func resolved(through last: Int64) {
    for index in links.indices where index < inFlight || links[index].wasMade {
      links[index].wasMade = links[index].isChange && links[index].sequence <= last
      links[index].isInDoubt = false
      links[index].repetitions += 1
    }
    (inFlight, returned, isBroken, isLost) = (0, 0, false, false)
  }

  /// Changes all works that may be sent; nothing is in flight.
  mutating func changeAll<Failure: Error>(_ change: (Work) throws(Failure) -> Work) throws(Failure) {
    for index in links.indices where !links[index].wasMade { links[index].work = try change(links[index].work) }
  }

  /// The answer of the oldest work, which was made, is reported.
  mutating func didAnswer() {
    made = links.removeFirst().sequence
  }

  /// The oldest work was made, and is reported as not made: nothing that it has changed counts any more. The number is used
  /// again.
  mutating func didForget() {
    links.removeFirst()
  }

  /// There is a connection, and there was no session whose works could be in doubt.
  mutating func connected() {
    isLost = false
  }

  /// Nothing that waits or is in flight was made or will be: takes all of it out. The connection is as before.
  mutating func refuseAll() -> [Work] {
    defer {
      links = []
      (inFlight, returned, isBroken) = (0, 0, false)
    }
    return links.map(\.work)
  }
}

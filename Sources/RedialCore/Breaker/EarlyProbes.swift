/// Probes of a breaker that is not closed which do not wait for its interval, because their calls tell more than the
/// others: calls of that kind have not failed yet.
///
/// However many kinds there are, the target gets two requests per second at most: only one probe is in flight, and the
/// next begins ``spacing`` after it began. One that gets no answer for long does not stop the others. Nor does a probe of the
/// interval: any other call may go beside one that hangs, one in each ``patience``.
struct EarlyProbes: Sendable, Hashable {
  /// When the last probe began, early or not, and its permit while it is in flight.
  private var lastStart: Timestamp?
  private var pending: UInt64?
  /// Whether the last probe was an early one.
  private var isEarly = false
  /// The permits of those in flight, and the last permit from before the outage.
  private var inFlight: [UInt64] = []
  private var before: UInt64 = 0
  /// When the last probe of the interval began.
  private var lastUsual: Timestamp?
  /// The same of those beside a probe of the interval that hangs, which neither delay the early ones nor are delayed by them.
  private var lastBeside: Timestamp?
  private var besideInFlight: [UInt64] = []

  init() {}

  private init(lastStart: Timestamp?, before: UInt64) {
    (self.lastStart, self.before) = (lastStart, before)
  }

  /// The least time between the beginnings of two probes.
  static let spacing = Duration.milliseconds(500)
  /// How long a probe without an answer keeps others from starting. Not more for a target whose calls take long: by as much
  /// a path that hangs delays another, and which of them are slow is not known.
  static let patience = Duration.seconds(2)
  /// Of those without an answer, how many may be in flight.
  static let most = 16

  /// When the next early probe may begin.
  func opening(at now: Timestamp) -> Timestamp {
    // If the clock steps back, nobody waits until it reaches its old time.
    guard let lastStart, lastStart <= now else { return now }
    if inFlight.count >= Self.most { return max(now + Self.spacing, lastStart + Self.patience) }
    return max(now, lastStart + (pending == nil ? Self.spacing : Self.patience))
  }

  /// Until when a probe at the end of the interval has to wait for an early one; nil if it need not.
  func delay(at now: Timestamp) -> Timestamp? {
    guard isEarly, let lastStart, lastStart <= now else { return nil }
    let opening = lastStart + (pending == nil ? Self.spacing : Self.patience)
    return opening > now ? opening : nil
  }

  /// When another probe may begin although those of the interval have all places, because these get no answer for long.
  /// Each keeps the next from starting for as long, also if it fails at once: nothing says that these calls tell more.
  func openingBeside(at now: Timestamp) -> Timestamp {
    // Nor does a clock that steps back keep this from starting.
    guard let last = [lastUsual, lastBeside].compactMap({ $0 }).max(), last <= now else { return now }
    let least = besideInFlight.count < Self.most ? now : now + Self.spacing
    return max(least, last + Self.patience)
  }

  /// A probe begins beside one that hangs.
  mutating func startBeside(_ permit: UInt64, at now: Timestamp) {
    lastBeside = now
    besideInFlight.append(permit)
  }

  /// A probe begins: an early one, or one of the interval.
  mutating func start(_ permit: UInt64, isEarly: Bool, at now: Timestamp) {
    lastStart = now
    pending = permit
    self.isEarly = isEarly
    if isEarly { inFlight.append(permit) } else { lastUsual = now }
  }

  /// A probe has ended. Returns whether it was an early one that began in this outage.
  mutating func end(_ permit: UInt64) -> Bool {
    if pending == permit { pending = nil }
    return (Self.remove(permit, from: &inFlight) || Self.remove(permit, from: &besideInFlight)) && permit > before
  }

  private static func remove(_ permit: UInt64, from inFlight: inout [UInt64]) -> Bool {
    guard let index = inFlight.firstIndex(of: permit) else { return false }
    inFlight.remove(at: index)
    return true
  }

  /// An outage begins: nothing that has begun before says that it is over. The next probe keeps its distance to the last
  /// one of the outage before.
  mutating func beginOutage(after permit: UInt64) {
    self = EarlyProbes(lastStart: lastStart, before: permit)
  }
}

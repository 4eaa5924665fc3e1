internal import RedialModel

/// What a transport has learned of origins, and what follows for their next requests. Most have taught it nothing.
///
/// Not `Sendable`: it belongs to the thread that drives the transfers.
final class OriginMemory {
  /// Of one origin and one group of requests: what the requests of one have taught says nothing to others.
  private struct Habit {
    /// Distinguishes its connections that take further requests from those that finish theirs; 0 for the first.
    var generation = 0
    /// Until when it is called over HTTP/1.1 only.
    var plainUntil: ContinuousClock.Instant?
  }

  /// Of one origin.
  private struct Entry {
    /// The addresses that did not answer, the last one last.
    var silent: [(address: IPAddress, at: ContinuousClock.Instant)] = []
    /// Whether libcurl still has its addresses in the order of before.
    var isStale = false
  }

  /// By a number for the origin. No caller can choose two that have the same: its seed is of this process.
  private var entries: [Int: Entry] = [:]
  private var habits: [Int: Habit] = [:]
  private var lastGeneration = 0
  var crowds = Crowds()

  /// How many origins are remembered, and groups of them, before all are forgotten: each then is called as at first.
  static let most = 4096
  /// How many silent addresses of one are.
  static let mostSilent = 16
  /// How long.
  static let time = Duration.seconds(600)

  /// For the scheme, host and port of a URL, as they stand there.
  private static func number(ofURL url: String, in group: Int? = nil) -> Int {
    let bytes = url.utf8
    let start = bytes.firstIndex(of: UInt8(ascii: ":")).flatMap {
      bytes.index($0, offsetBy: 3, limitedBy: bytes.endIndex)
    }
    let end = bytes[(start ?? bytes.endIndex)...].firstIndex {
      $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#")
    }
    var hasher = Hasher()
    hasher.combine(url[..<(end ?? bytes.endIndex)])
    hasher.combine(group)
    return hasher.finalize()
  }

  private func change(_ url: String, _ body: (inout Entry) -> Void) {
    if entries.count >= Self.most { entries.removeAll() }
    body(&entries[Self.number(ofURL: url), default: Entry()])
  }

  private func change(_ url: String, in group: Int, _ body: (inout Habit) -> Void) {
    if habits.count >= Self.most { habits.removeAll() }
    body(&habits[Self.number(ofURL: url, in: group), default: Habit()])
  }

  /// What follows for a request.
  struct Advice {
    /// The group of the requests that may share its connection.
    var group: Int
    var isPlain = false
  }

  /// - Parameter group: The group that the request is of by itself.
  func advice(on url: String, in group: Int, at now: @autoclosure () -> ContinuousClock.Instant = .now) -> Advice {
    var advice = Advice(group: group)
    guard !habits.isEmpty, let habit = habits[Self.number(ofURL: url, in: group)] else { return advice }
    advice.isPlain = habit.plainUntil.map { now() < $0 } ?? false
    if habit.generation > 0 || advice.isPlain {
      var hasher = Hasher()
      hasher.combine(group)
      hasher.combine(habit.generation)
      hasher.combine(advice.isPlain)
      advice.group = hasher.finalize()
    }
    return advice
  }

  /// A number for those that may share connections to an origin.
  ///
  /// - Parameters:
  ///   - group: The group that ``advice(on:in:at:)`` has given.
  ///   - tls: How the two ends prove their identity.
  func crowd(on url: String, in group: Int, with tls: TargetTLS?) -> Int {
    let number = Self.number(ofURL: url, in: group)
    guard let tls else { return number }
    var hasher = Hasher()
    hasher.combine(number)
    hasher.combine(tls)
    return hasher.finalize()
  }

  /// Whether libcurl must forget an origin's addresses first. It is said once.
  func takeStale(_ url: String) -> Bool {
    guard !entries.isEmpty else { return false }
    let number = Self.number(ofURL: url)
    defer { entries[number]?.isStale = false }
    return entries[number]?.isStale == true
  }

  /// The connections of an origin take no further requests, unless that is so already.
  ///
  /// - Parameter used: The group of a request on one of them.
  func renew(_ url: String, in group: Int, from used: Int) {
    guard advice(on: url, in: group).group == used else { return }
    lastGeneration += 1
    change(url, in: group) { $0.generation = lastGeneration }
  }

  /// An origin is to be called over HTTP/1.1, for a while.
  func requirePlain(_ url: String, in group: Int, at now: ContinuousClock.Instant = .now) {
    change(url, in: group) { $0.plainUntil = now + Self.time }
  }

  /// An origin does not answer over HTTP/1.1.
  func refusePlain(_ url: String, in group: Int) { change(url, in: group) { $0.plainUntil = nil } }

  /// Addresses of an origin did not answer.
  func noteSilent(_ addresses: [IPAddress], of url: String, at now: ContinuousClock.Instant = .now) {
    guard !addresses.isEmpty else { return }
    change(url) { entry in
      entry.silent.removeAll { addresses.contains($0.address) }
      entry.silent += addresses.map { ($0, now) }
      entry.silent.removeFirst(max(0, entry.silent.count - Self.mostSilent))
      entry.isStale = true
    }
  }

  /// The addresses of an origin in the order in which to try them: those that lately did not answer come last.
  func order(_ addresses: [String], of url: String, at now: ContinuousClock.Instant = .now) -> [String] {
    guard !entries.isEmpty, let entry = entries[Self.number(ofURL: url)] else { return addresses }
    let silent = entry.silent.filter { now - $0.at < Self.time }.map(\.address)
    let places = addresses.map { text in IPAddress(canonical: text).flatMap { silent.firstIndex(of: $0) } ?? -1 }
    return addresses.indices.sorted { (places[$0], $0) < (places[$1], $1) }.map { addresses[$0] }
  }
}

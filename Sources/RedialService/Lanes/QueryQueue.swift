internal import RedialModel
internal import RedialStore

/// Decides which query of the store runs next, for ``QueryLanes``. It starts nothing itself.
///
/// A free lane takes the query that has waited longest, within two rules. Heavy queries may use only some of the lanes,
/// so that a look-up never waits for a scan. And one API key may use only some of those, and keys are served in
/// rotation, so that a key with many queries delays only itself.
struct QueryQueue<Job: Sendable>: Sendable {
  /// A query that runs or is about to.
  struct Ticket: Sendable {
    /// Numbered in the order of arrival.
    let number: UInt64
    let load: QueryLoad
    let key: Caller.Admission
    let job: Job
    fileprivate let isOwed: Bool
  }

  private struct LoadQueue: Sendable {
    var tickets: [Caller.Admission: FIFO<Ticket>] = [:]
    /// The keys with waiting queries, the next one first.
    var rotation: [Caller.Admission] = []
    /// How many limited queries wait, in all and by key.
    var count = 0
    var counts: [Caller.Admission: Int] = [:]
  }

  private let lanes: Int
  private var queues = Array(repeating: LoadQueue(), count: QueryLoad.allCases.count)
  private var running = Array(repeating: 0, count: QueryLoad.allCases.count)
  private var runningOf: [Caller.Admission: [Int]] = [:]
  private var last: UInt64 = 0

  /// - Parameter lanes: How many queries run at a time, 1 or more.
  init(lanes: Int) {
    self.lanes = max(1, lanes)
  }

  /// The maximum number of queries of a load, or a heavier one, that run at a time.
  func limit(_ load: QueryLoad) -> Int {
    switch load {
    case .lookUp: lanes
    case .list: max(1, lanes - 1)
    case .scan: max(1, lanes / 2)
    }
  }

  /// The same for one API key: one fewer, so that a lane stays free for another key.
  func limitOfKey(_ load: QueryLoad) -> Int { max(1, limit(load) - 1) }

  /// The maximum number of waiting queries of a load; one API key may have half as many.
  static func mostWaiting(_ load: QueryLoad) -> Int {
    switch load {
    case .lookUp: 2000
    case .list: 1000
    case .scan: 500
    }
  }

  /// Adds a query.
  ///
  /// - Parameters:
  ///   - key: The key of its client; ``Caller/Admission/nobody`` stands for all clients if no key is required.
  ///   - isOwed: Whether it is added however many wait.
  /// - Returns: Its number; nil, and it is not added, if too many wait.
  mutating func add(_ job: Job, _ load: QueryLoad, of key: Caller.Admission, isOwed: Bool) -> UInt64? {
    let index = load.rawValue
    if !isOwed {
      let most = Self.mostWaiting(load)
      guard queues[index].count < most, key == .nobody || queues[index].counts[key, default: 0] < most / 2 else {
        return nil
      }
      queues[index].count += 1
      queues[index].counts[key, default: 0] += 1
    }
    last += 1
    if queues[index].tickets[key] == nil { queues[index].rotation.append(key) }
    queues[index].tickets[key, default: FIFO()].append(
      Ticket(number: last, load: load, key: key, job: job, isOwed: isOwed))
    return last
  }

  /// Removes the query to run next, and counts it as running; nil if none may run now.
  mutating func next() -> Ticket? {
    var best: (load: Int, key: Int, number: UInt64)?
    for load in QueryLoad.allCases {
      guard let position = nextKey(for: load), let number = head(of: load, position) else { continue }
      if best.map({ number < $0.number }) ?? true { best = (load.rawValue, position, number) }
    }
    guard let best else { return nil }
    let key = queues[best.load].rotation.remove(at: best.key)
    guard let ticket = queues[best.load].tickets[key]?.popFirst() else { return nil }
    if queues[best.load].tickets[key]?.isEmpty == false {
      queues[best.load].rotation.append(key)
    } else {
      queues[best.load].tickets[key] = nil
    }
    if !ticket.isOwed {
      queues[best.load].count -= 1
      let left = queues[best.load].counts[key, default: 1] - 1
      queues[best.load].counts[key] = left > 0 ? left : nil
    }
    running[best.load] += 1
    if key != .nobody {
      runningOf[key, default: Array(repeating: 0, count: running.count)][best.load] += 1
    }
    return ticket
  }

  /// Records that a query has ended.
  mutating func finished(_ ticket: Ticket) {
    running[ticket.load.rawValue] -= 1
    guard var counts = runningOf[ticket.key] else { return }
    counts[ticket.load.rawValue] -= 1
    runningOf[ticket.key] = counts.contains { $0 > 0 } ? counts : nil
  }

  /// The position in the rotation of the next key that may run a query of that load.
  private func nextKey(for load: QueryLoad) -> Int? {
    guard running[load.rawValue...].reduce(0, +) < limit(load) else { return nil }
    return queues[load.rawValue].rotation.firstIndex { key in
      (runningOf[key]?[load.rawValue...].reduce(0, +) ?? 0) < limitOfKey(load)
    }
  }

  private func head(of load: QueryLoad, _ position: Int) -> UInt64? {
    let queue = queues[load.rawValue]
    return queue.tickets[queue.rotation[position]]?.first?.number
  }
}

/// How much a query reads of the store.
enum QueryLoad: Int, CaseIterable, Sendable {
  /// A call, or another record that is found by its key.
  case lookUp
  /// A page of calls that an index finds.
  case list
  /// A page of calls that are examined one by one.
  case scan
}

extension CallQuery {
  /// How much its pages read.
  var load: QueryLoad { filter.isIndexed ? .list : .scan }
}

/// A queue whose first element is removed in constant time on average.
private struct FIFO<Element: Sendable>: Sendable {
  private var elements: [Element?] = []
  private var head = 0

  var isEmpty: Bool { head == elements.count }
  var first: Element? { isEmpty ? nil : elements[head] }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func popFirst() -> Element? {
    guard !isEmpty else { return nil }
    defer {
      elements[head] = nil
      head += 1
      if head > elements.count / 2 {
        elements.removeFirst(head)
        head = 0
      }
    }
    return elements[head]
  }
}

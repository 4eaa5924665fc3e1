internal import Dispatch
internal import Synchronization

/// Threads for reading the store, so that a query waits neither for writes nor on an event loop. ``QueryQueue`` says which
/// query runs next.
final class QueryLanes: Sendable {
  /// Whether the client of a query has left, as far as that is known.
  final class Departure: Sendable {
    private let isNoted = Atomic(false)

    /// Whether it has.
    var hasLeft: Bool { isNoted.load(ordering: .relaxed) }

    /// Notes it.
    func note() { isNoted.store(true, ordering: .relaxed) }
  }

  private struct Job: Sendable {
    let run: @Sendable () -> Void
    let drop: (@Sendable () -> Void)?
    let departure: Departure?
  }

  private struct Start: Sendable {
    let lane: Int
    let ticket: QueryQueue<Job>.Ticket
    let hasWaited: Bool
  }

  private struct State: Sendable {
    var queue: QueryQueue<Job>
    var free: [Int]

    /// Gives free lanes the next queries.
    ///
    /// - Parameter fresh: The number of a query that has only just come.
    mutating func starts(fresh: UInt64? = nil) -> [Start] {
      var starts: [Start] = []
      while let lane = free.last, let ticket = queue.next() {
        free.removeLast()
        starts.append(Start(lane: lane, ticket: ticket, hasWaited: ticket.number != fresh))
      }
      return starts
    }
  }

  private let lanes: [DispatchQueue]
  private let state: Mutex<State>

  init(count: Int) {
    lanes = (0..<max(1, count)).map { DispatchQueue(label: "redial.query.\($0)") }
    state = Mutex(State(queue: QueryQueue(lanes: count), free: Array(lanes.indices)))
  }

  /// Runs a query on one of the lanes; false, and it is not run, when too many wait already.
  ///
  /// - Parameters:
  ///   - load: How much it reads.
  ///   - key: Whose it is.
  ///   - departure: Noted when its client leaves. A query that has to wait and whose client has left by then is not run.
  ///   - drop: Called instead.
  func run(
    as load: QueryLoad = .lookUp, of key: Caller.Admission = .nobody, unless departure: Departure? = nil,
    drop: (@Sendable () -> Void)? = nil, _ query: @escaping @Sendable () -> Void
  ) -> Bool {
    add(Job(run: query, drop: drop, departure: departure), load, of: key, isOwed: false)
  }

  /// Runs a query on one of the lanes, however many wait, without taking a place from them: one whose answer is owed to
  /// somebody whose call was accepted. There is one at most for each request under way.
  func runOwed(_ query: @escaping @Sendable () -> Void) {
    _ = add(Job(run: query, drop: nil, departure: nil), .lookUp, of: .nobody, isOwed: true)
  }

  private func add(_ job: Job, _ load: QueryLoad, of key: Caller.Admission, isOwed: Bool) -> Bool {
    let starts = state.withLock { state -> [Start]? in
      guard let number = state.queue.add(job, load, of: key, isOwed: isOwed) else { return nil }
      return state.starts(fresh: number)
    }
    guard let starts else { return false }
    begin(starts)
    return true
  }

  private func begin(_ starts: some Sequence<Start>) {
    for start in starts { lanes[start.lane].async { self.work(on: start) } }
  }

  /// Runs a query, and then whatever is next for the same lane.
  private func work(on first: Start) {
    var current: Start? = first
    while let start = current {
      Self.serve(start)
      let starts = state.withLock { state in
        state.queue.finished(start.ticket)
        state.free.append(start.lane)
        return state.starts()
      }
      current = starts.first { $0.lane == start.lane }
      begin(starts.lazy.filter { $0.lane != start.lane })
    }
  }

  private static func serve(_ start: Start) {
    let job = start.ticket.job
    if start.hasWaited, let drop = job.drop, job.departure?.hasLeft == true { return drop() }
    job.run()
  }
}

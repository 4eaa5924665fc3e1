internal import Dispatch
internal import Synchronization

/// Threads that read the store, so that a query waits neither for writes nor on an event loop. ``QueryQueue`` decides
/// which query runs next.
final class QueryLanes: Sendable {
  /// Whether the client of a query has departed, as far as known.
  final class Departure: Sendable {
    private let isRecorded = Atomic(false)

    /// Whether it is known that the client has departed.
    var isKnown: Bool { isRecorded.load(ordering: .relaxed) }

    /// Records that the client has departed.
    func record() { isRecorded.store(true, ordering: .relaxed) }
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

    /// Starts the next queries on free lanes.
    ///
    /// - Parameter fresh: The number of a query that has just arrived.
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

  /// Runs a query on one of the lanes; false, and it is not run, if too many wait already.
  ///
  /// - Parameters:
  ///   - load: How much it reads.
  ///   - key: The API key of its client.
  ///   - departure: Recorded when its client departs. A query whose client has departed while it waited is not run.
  ///   - drop: Called if the query is not run for that reason.
  func run(
    as load: QueryLoad = .lookUp, of key: Caller.Admission = .nobody, unless departure: Departure? = nil,
    drop: (@Sendable () -> Void)? = nil, _ query: @escaping @Sendable () -> Void
  ) -> Bool {
    add(Job(run: query, drop: drop, departure: departure), load, of: key, isOwed: false)
  }

  /// Runs a query on one of the lanes, however many wait, without using one of the limited places: its answer belongs
  /// to an accepted call. There is at most one for each open request.
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

  /// Runs a query, and then the next queries for the same lane.
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
    if start.hasWaited, let drop = job.drop, job.departure?.isKnown == true { return drop() }
    job.run()
  }
}

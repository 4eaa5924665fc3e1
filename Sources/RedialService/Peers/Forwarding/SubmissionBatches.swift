/// Decides which forwarded submissions are sent to their owners when, and which are stored here instead.
///
/// A submission is sent at once if none is on its way to its owner. Those that come meanwhile wait and are the next batch, so
/// batches grow with the load, and a lone submission never waits for others. Nothing here has a timer: a batch ends after a
/// bounded time, with an answer or without one, and then nothing waits behind it any more.
struct SubmissionBatches<Owner: Hashable & Sendable, Item: Sendable>: Sendable {
  /// What is sent and kept at most.
  struct Limits: Sendable {
    /// Maximum number of submissions in a batch.
    var batch = 256
    /// Maximum size of a batch, in bytes. A larger submission is not sent.
    var batchBytes = 256 << 10
    /// Maximum number of submissions that wait for the batch before them.
    var waiting = 2048
    /// The maximum size of these, in bytes.
    var waitingBytes = 4 << 20
    /// For how long nothing is sent to an owner that has not answered; twice as long after each further time,
    var rest = Duration.milliseconds(500)
    /// up to this.
    var longestRest = Duration.seconds(60)
  }

  /// Submissions that are sent together.
  struct Batch: Sendable {
    let number: UInt64
    let owner: Owner
    let items: [Item]
  }

  /// How a batch has ended.
  enum Outcome: Sendable {
    /// The owner has answered each submission.
    case answered
    /// The owner was not reached, or does not know what to do with it: it has done nothing.
    case notServed
    /// Nobody knows what the owner has done.
    case unanswered
  }

  /// What to do.
  enum Step: Sendable {
    /// Send this, and report the end with ``SubmissionBatches/ended(_:_:at:)``.
    case send(Batch)
    /// Store these here, for their owner. If they are in doubt, the owner may have stored them, too.
    case store([Item], isInDoubt: Bool)
  }

  /// What waits for the batch before it.
  private struct Queue: Sendable {
    var items: [(item: Item, size: Int)] = []
    var bytes = 0

    mutating func add(_ item: Item, size: Int) {
      items.append((item, size))
      bytes += size
    }

    /// Takes as much as fits into a batch.
    mutating func take(_ limits: Limits) -> [Item] {
      var (count, size) = (0, 0)
      while count < min(items.count, limits.batch), size + items[count].size <= limits.batchBytes {
        size += items[count].size
        count += 1
      }
      defer { items.removeFirst(count) }
      bytes -= size
      return items.prefix(count).map(\.item)
    }
  }

  private enum State: Sendable {
    /// Nothing is on its way. Leads to `sending`.
    case idle
    /// A batch is on its way, and others wait behind it. Leads to itself, to `idle` and to `resting`.
    case sending(Batch, Queue)
    /// It has not answered; nothing is sent until then. Leads to `sending`.
    case resting(until: ContinuousClock.Instant)
  }

  private struct Line: Sendable {
    var state = State.idle
    /// How often in a row it has not answered.
    var silences = 0
  }

  private let limits: Limits
  private var lines: [Owner: Line] = [:]
  private var owners: [UInt64: Owner] = [:]
  private var last: UInt64 = 0

  init(_ limits: Limits = Limits()) {
    self.limits = limits
  }

  /// How many submissions are on their way or wait.
  var count: Int {
    lines.values.reduce(0) { sum, line in
      guard case .sending(let batch, let queue) = line.state else { return sum }
      return sum + batch.items.count + queue.items.count
    }
  }

  /// Takes submissions for an owner, with their sizes in bytes.
  mutating func add(
    _ new: [(item: Item, size: Int)], for owner: Owner, at now: ContinuousClock.Instant
  ) -> [Step] {
    var line = lines[owner] ?? Line()
    defer { lines[owner] = line }
    var queue = Queue()
    var current: Batch?
    switch line.state {
    case .resting(let until) where now < until: return [.store(new.map(\.item), isInDoubt: false)]
    case .idle, .resting: break
    case .sending(let batch, let waiting):
      (current, queue) = (batch, waiting)
      // The array of the queue has one owner only, or it would be copied.
      line.state = .idle
    }
    var steps: [Step] = []
    var surplus: [Item] = []
    for (item, size) in new {
      let isFull = queue.items.count >= limits.waiting || queue.bytes + size > limits.waitingBytes
      if isFull || size > limits.batchBytes { surplus.append(item) } else { queue.add(item, size: size) }
    }
    if !surplus.isEmpty { steps.append(.store(surplus, isInDoubt: false)) }
    if let current {
      line.state = .sending(current, queue)
    } else if let batch = batch(from: &queue, for: owner) {
      line.state = .sending(batch, queue)
      steps.append(.send(batch))
    }
    return steps
  }

  /// A batch has ended.
  ///
  /// - Returns: Its submissions, if they were answered.
  mutating func ended(
    _ number: UInt64, _ outcome: Outcome, at now: ContinuousClock.Instant
  ) -> (answered: [Item], steps: [Step]) {
    guard let owner = owners.removeValue(forKey: number), var line = lines[owner],
      case .sending(let batch, var queue) = line.state
    else { return ([], []) }
    line.state = .idle
    defer { lines[owner] = line }
    guard case .answered = outcome else {
      let pause = min(limits.longestRest, limits.rest * (1 << min(line.silences, 20)))
      line.silences += 1
      line.state = .resting(until: now + pause)
      var isInDoubt = false
      if case .unanswered = outcome { isInDoubt = true }
      var steps = [Step.store(batch.items, isInDoubt: isInDoubt)]
      if !queue.items.isEmpty { steps.append(.store(queue.items.map(\.item), isInDoubt: false)) }
      return ([], steps)
    }
    line.silences = 0
    guard let next = self.batch(from: &queue, for: owner) else { return (batch.items, []) }
    line.state = .sending(next, queue)
    return (batch.items, [.send(next)])
  }

  /// Exactly these owners exist. What is on its way to others still ends.
  mutating func meet(_ all: Set<Owner>) {
    lines = lines.filter { owner, line in
      if case .sending = line.state { return true }
      return all.contains(owner)
    }
  }

  private mutating func batch(from queue: inout Queue, for owner: Owner) -> Batch? {
    guard !queue.items.isEmpty else { return nil }
    last += 1
    owners[last] = owner
    return Batch(number: last, owner: owner, items: queue.take(limits))
  }
}

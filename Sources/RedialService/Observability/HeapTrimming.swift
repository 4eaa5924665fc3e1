internal import CLinux
internal import Dispatch
internal import RedialCore
internal import RedialLanes

/// Returns memory to the system after a peak, such as thousands of bodies that were never completed.
///
/// The C library keeps freed memory below memory in use, however much it is: after 4,000 half-sent bodies 122 MB stayed
/// resident for good. So this checks at intervals, and trims the heap once there is enough free memory.
///
/// `@unchecked Sendable`: all mutable state is used only on `queue`, which is serial.
final class HeapTrimming: @unchecked Sendable {
  /// The interval of checks.
  static let interval = Duration.seconds(2)

  private let queue = DispatchQueue(label: "redial.heap", qos: .utility)
  private let keptBytes: Int
  private var timer: (any DispatchSourceTimer)?
  private var rule: Rule

  /// When to trim. Trimming walks the whole heap and delays threads that allocate meanwhile.
  struct Rule {
    /// How much free memory is kept.
    let keptBytes: Int
    /// The resident memory after the last trim. Memory counts as free only if the allocator still reports it.
    private(set) var baseline: Int?

    init(keptBytes: Int) { self.keptBytes = keptBytes }

    /// Whether to trim: enough is free, and enough has become resident since the last trim.
    mutating func shouldTrim(free: Int, resident: Int) -> Bool {
      baseline = baseline.map { min($0, resident) }
      return free > keptBytes && resident - (baseline ?? 0) > keptBytes
    }

    /// Records the resident memory after a trim.
    mutating func trimmed(resident: Int) { baseline = resident }
  }

  /// - Parameter keptBytes: How much free memory to keep for reuse.
  init(keptBytes: Int) {
    self.keptBytes = keptBytes
    rule = Rule(keptBytes: keptBytes)
  }

  deinit { timer?.cancel() }

  /// Checks at intervals, until ``stop()``.
  func start() {
    queue.async { [self] in
      let timer = DispatchSource.makeTimerSource(queue: queue)
      // Weak: the queue outlives this object.
      timer.setEventHandler { [weak self] in self?.look() }
      let interval = DispatchTimeInterval.microseconds(Int(Self.interval.wholeMicroseconds))
      timer.schedule(deadline: .now() + interval, repeating: interval)
      self.timer = timer
      timer.activate()
    }
  }

  /// Ends the checks.
  func stop() { queue.async { [self] in timer?.cancel() } }

  private func look() {
    Owner.queue(queue).check()
    guard let resident = ProcessFigures.residentBytes(), resident > keptBytes,
      rule.shouldTrim(free: redial_free_heap_bytes(), resident: resident)
    else { return }
    redial_trim_heap()
    rule.trimmed(resident: ProcessFigures.residentBytes() ?? resident)
  }
}

import Synchronization

/// The state that a stream's writers and its loop share: bytes that were written but that the kernel has not accepted.
final class StreamBacklog: Sendable {
  /// The bytes that the loop takes at once.
  struct Batch {
    var bytes: [UInt8] = []
    var isEnded = false
  }

  private struct State {
    /// Written, but not yet taken by the loop.
    var pending: [UInt8]
    /// Taken by the loop, but not yet by the kernel.
    var inFlight = 0
    /// The writer has to wait.
    var isFull = false
    /// The loop was already woken.
    var isSignalled = false
    var isEnded = false
    var isClosed = false
  }

  private let limit: Int
  private let state: Mutex<State>
  private let onEvent: @Sendable (HTTPStreamEvent) -> Void

  /// - Parameters:
  ///   - first: The first bytes, of any size.
  ///   - limit: The number of bytes from which the writer has to wait, at least 1.
  init(first: [UInt8], limit: Int, onEvent: @escaping @Sendable (HTTPStreamEvent) -> Void) {
    self.limit = max(1, limit)
    self.onEvent = onEvent
    state = Mutex(State(pending: first, isFull: first.count >= max(1, limit)))
  }

  /// - Returns: The event for the writer, and whether the loop must be informed.
  func write(_ bytes: some Sequence<UInt8>) -> (HTTPStreamWriteResult, mustSignal: Bool) {
    // The sequence's own code must not run under the lock, so it is copied before.
    let bytes = Array(bytes)
    return state.withLock { state in
      guard !state.isClosed, !state.isEnded else { return (.closed, false) }
      guard !state.isFull else { return (.refused, false) }
      guard !bytes.isEmpty else { return (.free, false) }
      if state.pending.isEmpty { state.pending = bytes } else { state.pending += bytes }
      state.isFull = state.pending.count + state.inFlight >= limit
      defer { state.isSignalled = true }
      return (state.isFull ? .full : .free, !state.isSignalled)
    }
  }

  /// - Returns: Whether the loop must be informed.
  func end() -> Bool {
    state.withLock { state in
      guard !state.isClosed, !state.isEnded else { return false }
      state.isEnded = true
      defer { state.isSignalled = true }
      return !state.isSignalled
    }
  }

  /// For the loop: the bytes that were written since.
  func take() -> Batch {
    state.withLock { state in
      let batch = Batch(bytes: state.pending, isEnded: state.isEnded)
      // The memory is freed too: most of thousands of streams are silent.
      state.pending = []
      state.inFlight += batch.bytes.count
      state.isSignalled = false
      return batch
    }
  }

  /// For the loop: reports how many of the taken bytes the kernel has not accepted.
  func report(inFlight: Int) {
    let isWritable = state.withLock { state in
      state.inFlight = inFlight
      guard state.isFull, !state.isEnded, state.pending.count + inFlight <= limit / 2 else { return false }
      state.isFull = false
      return true
    }
    if isWritable { onEvent(.writable) }
  }

  /// For the loop: notifies the writer, unless it has ended the stream.
  func notify(_ event: HTTPStreamEvent) {
    if !state.withLock({ $0.isEnded || $0.isClosed }) { onEvent(event) }
  }

  /// Accepts no more bytes, and notifies the writer once.
  func close() {
    let wasOpen = state.withLock { state in
      defer { state.isClosed = true }
      state.pending = []
      return !state.isClosed
    }
    if wasOpen { onEvent(.closed) }
  }
}

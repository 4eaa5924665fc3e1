import Synchronization

/// What a stream's writers and its loop share: the bytes that were written and are not yet with the kernel.
final class StreamBacklog: Sendable {
  /// What the loop takes at once.
  struct Batch {
    var bytes: [UInt8] = []
    var isEnded = false
  }

  private struct State {
    /// Written, and not yet taken by the loop.
    var pending: [UInt8]
    /// Taken by the loop, and not yet by the kernel.
    var inFlight = 0
    /// The writer was asked to wait.
    var isFull = false
    /// The loop will look.
    var isSignalled = false
    var isEnded = false
    var isClosed = false
  }

  private let limit: Int
  private let state: Mutex<State>
  private let onEvent: @Sendable (HTTPStreamEvent) -> Void

  /// - Parameters:
  ///   - first: What goes first, of any size.
  ///   - limit: From how many bytes on the writer has to wait, at least 1.
  init(first: [UInt8], limit: Int, onEvent: @escaping @Sendable (HTTPStreamEvent) -> Void) {
    self.limit = max(1, limit)
    self.onEvent = onEvent
    state = Mutex(State(pending: first, isFull: first.count >= max(1, limit)))
  }

  /// - Returns: The event for the writer, and whether the loop must be informed.
  func write(_ bytes: some Sequence<UInt8>) -> (HTTPStreamWriteResult, mustSignal: Bool) {
    // Sound to run the sequence's code under the lock only if it is ours: so it is copied before.
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

  /// For the loop: what was written since.
  func take() -> Batch {
    state.withLock { state in
      let batch = Batch(bytes: state.pending, isEnded: state.isEnded)
      // The memory goes too: of thousands of streams most are silent.
      state.pending = []
      state.inFlight += batch.bytes.count
      state.isSignalled = false
      return batch
    }
  }

  /// For the loop: how much of what it took the kernel has not taken.
  func settle(inFlight: Int) {
    let isWritable = state.withLock { state in
      state.inFlight = inFlight
      guard state.isFull, !state.isEnded, state.pending.count + inFlight <= limit / 2 else { return false }
      state.isFull = false
      return true
    }
    if isWritable { onEvent(.writable) }
  }

  /// For the loop: tells the writer, unless it has ended the stream.
  func notify(_ event: HTTPStreamEvent) {
    if !state.withLock({ $0.isEnded || $0.isClosed }) { onEvent(event) }
  }

  /// Takes nothing any more, and tells the writer, once.
  func close() {
    let wasOpen = state.withLock { state in
      defer { state.isClosed = true }
      state.pending = []
      return !state.isClosed
    }
    if wasOpen { onEvent(.closed) }
  }
}

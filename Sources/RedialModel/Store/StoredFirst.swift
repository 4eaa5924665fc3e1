/// The new calls of a commit that other instances have stored first, see ``GivenIdentity``.
public struct StoredFirst: Sendable, Hashable {
  /// Those that wait in the store for their owner, which may change them.
  public var waiting: [CallID] = []
  /// Those that have been started, or have ended.
  public var begun: [CallID] = []

  /// Creates it.
  public init(waiting: [CallID] = [], begun: [CallID] = []) {
    self.waiting = waiting
    self.begun = begun
  }

  /// Whether there are none.
  public var isEmpty: Bool { waiting.isEmpty && begun.isEmpty }
}

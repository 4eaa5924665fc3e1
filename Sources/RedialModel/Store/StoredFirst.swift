/// The new calls of a commit that other instances have stored first, see ``GivenIdentity``.
package struct StoredFirst: Sendable, Hashable {
  /// Those that wait in the store for their owner, which may change them.
  package var waiting: [CallID] = []
  /// Those that have been started, or have ended.
  package var begun: [CallID] = []

  /// Creates it.
  package init(waiting: [CallID] = [], begun: [CallID] = []) {
    self.waiting = waiting
    self.begun = begun
  }

  /// Whether there are none.
  package var isEmpty: Bool { waiting.isEmpty && begun.isEmpty }
}

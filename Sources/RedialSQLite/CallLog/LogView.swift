internal import RedialModel
internal import RedialStore
internal import Synchronization

/// What the log of an open store has, for the threads that read: as of the last commit.
final class LogView: Sendable {
  private let logged: Mutex<LoggedCalls>

  init(_ logged: consuming sending LoggedCalls) {
    self.logged = Mutex(logged)
  }

  /// What is logged of a call, and how often calls have been folded until now.
  func call(_ id: CallID) -> (call: LoggedCalls.Call?, folds: UInt64) {
    logged.withLock { ($0.calls[id], $0.folds) }
  }

  /// How often calls have been folded until now.
  var folds: UInt64 { logged.withLock { $0.folds } }

  var all: LoggedCalls { logged.withLock { $0 } }

  /// Whether nothing is logged.
  var isEmpty: Bool { logged.withLock { $0.isEmpty } }

  /// Reads what is logged.
  func read<Result: Sendable>(_ body: (borrowing LoggedCalls) -> Result) -> Result {
    logged.withLock { body($0) }
  }

  /// Changes what is logged: it is on disk.
  func change(_ body: (inout LoggedCalls) -> Void) {
    logged.withLock { body(&$0) }
  }
}

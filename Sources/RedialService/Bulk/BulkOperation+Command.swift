internal import RedialEngine
internal import RedialModel

/// The command that an operation gives to each of its calls.
extension BulkOperation {
  /// Nil for one that makes new calls.
  var commandKind: CallCommand.Kind? {
    switch request.action {
    case .retry, .release: .retry
    case .cancel: .cancel
    case .purge: .purge
    case .replay: nil
    }
  }

  /// What must still hold for a call when the command reaches it: it may have changed since it was found.
  var condition: CallCommand.Condition? {
    switch request.action {
    case .retry, .purge, .replay: .ended(by: createdAt)
    case .release: .unfinished
    case .cancel: nil
    }
  }
}

import RedialModel
import RedialStore
import Synchronization

/// The notices of a store, in their order.
final class NoticeLog: Sendable {
  let notices = StoreNotices()
  private let received = Mutex<[StoreNotice]>([])

  init() {
    notices.receive { [weak self] notice in self?.received.withLock { $0.append(notice) } }
  }

  private var all: [StoreNotice] { received.withLock { $0 } }

  var damaged: [StoreError] { all.compactMap { if case .damaged(_, let error) = $0 { error } else { nil } } }
  /// The calls of each notice.
  var setAside: [[CallID]] { all.compactMap { if case .setAside(let calls) = $0 { calls.map(\.id) } else { nil } } }
  /// Whether a file was away, or all were back.
  var misplaced: [Bool] { all.compactMap { if case .misplaced(let error) = $0 { error != nil } else { nil } } }
}

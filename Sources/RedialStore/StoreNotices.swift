package import RedialModel
internal import Synchronization

/// A report of a store that is not the answer to a request.
package enum StoreNotice: Sendable {
  /// A stored call could not be read and was therefore set to `failed`, which is on disk.
  case damaged(CallID, StoreError)
  /// What is stored of a target cannot be read, so the target is paused.
  case targetDamaged(TargetKey, StoreError)
  /// Such calls of one claim, which were counted as unfinished until now, with their namespaces.
  case setAside([(id: CallID, namespace: Namespace)])
  /// The log could not be moved into the file for the first time; or, with nil, all of it has been moved and the file is
  /// synced. The data in the log is safe, but the log grows.
  case checkpoint(StoreError?)
  /// With true, the disk is full and the reserve is released, or could not be taken: new calls must then be refused, and
  /// everything else goes on. With false, the reserve is taken again. It has so many bytes.
  case shortage(Bool, reserveBytes: Int)
  /// The clock has been set back since the last process, by so much, and so many calls wait by the new one now.
  case clockSetBack(by: Duration, calls: Int)
  /// One of the store's files is no longer in its place, and every transaction fails; or, with nil, all are again.
  case misplaced(StoreError?)
  /// Other instances have encrypted values by a key that this one does not have; or, with nil, it can read all again.
  case keyMissing(StoreError?)
  /// A server has taken over that lacks commits which this instance knew; or another instance has noticed that.
  case commitsLost(LostCommits, noticedHere: Bool)
  /// No standby has a commit before it is acknowledged.
  case noStandby
}

/// The notices of a store, on their way to a receiver. Notices that arrive before there is one are kept for it.
package final class StoreNotices: Sendable {
  private enum State {
    case waiting([StoreNotice])
    case receiving(@Sendable (StoreNotice) -> Void)
  }

  private let state = Mutex(State.waiting([]))

  /// Creates a way without a receiver.
  package init() {}

  /// Sends all notices to a receiver, from now on and including those that are kept.
  ///
  /// - Parameter receiver: Called on the store's lane; with kept notices, on this thread.
  package func receive(_ receiver: @escaping @Sendable (StoreNotice) -> Void) {
    let kept = state.withLock { state -> [StoreNotice] in
      defer { state = .receiving(receiver) }
      guard case .waiting(let kept) = state else { return [] }
      return kept
    }
    for notice in kept { receiver(notice) }
  }

  package func post(_ notice: StoreNotice) {
    let receiver = state.withLock { state -> (@Sendable (StoreNotice) -> Void)? in
      switch state {
      case .receiving(let receiver): return receiver
      case .waiting(let kept):
        state = .waiting(kept + [notice])
        return nil
      }
    }
    receiver?(notice)
  }
}

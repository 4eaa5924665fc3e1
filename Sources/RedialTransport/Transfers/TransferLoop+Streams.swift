internal import CCurl
internal import RedialCore

/// Transfers that wait for a stream; see ``Crowd``.
extension TransferLoop {
  /// Makes a transfer wait for which libcurl would open a connection.
  func awaitStream(_ transfer: Transfer, for pause: Duration) {
    withdraw(transfer)
    transfer.suspension.begin(at: .now, spent: .microseconds(transfer.elapsed))
    let since = transfer.crowding.beginWaiting(at: .now)
    memory.crowds.wait(transfer.id, in: transfer.crowding.crowd, since: since)
    streamTimers.add(TransferTimers.Entry(transfer: transfer, generation: transfer.generation), after: pause)
  }

  /// Continues the transfers that need not wait any more, or have waited for long enough. Those for which libcurl still has no
  /// connection come back.
  func endStreamWaits() {
    for id in memory.crowds.takeWoken() {
      if let transfer = transfers[id] { endStreamWait(transfer) }
    }
    for (id, pause) in memory.crowds.takeSettling() {
      guard let transfer = transfers[id] else { continue }
      streamTimers.add(TransferTimers.Entry(transfer: transfer, generation: transfer.generation), after: pause)
    }
    while let entry = streamTimers.popExpired() {
      if entry.transfer.generation == entry.generation { endStreamWait(entry.transfer) }
    }
  }

  private func endStreamWait(_ transfer: Transfer) {
    guard transfer.crowding.isWaiting else { return }
    memory.crowds.left(transfer.id, in: transfer.crowding.crowd, from: nil)
    let now = ContinuousClock.now
    transfer.crowding.endWaiting(after: transfer.suspension.since.map { now - $0 } ?? .zero)
    transfer.suspension.end(at: now)
    proceed(transfer, transfer.setTimeouts(after: transfer.suspension.spent))
  }
}

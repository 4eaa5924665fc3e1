internal import CCurl

/// Transfers that are ended here, at limits that libcurl does not have.
extension TransferLoop {
  /// How long after a delay what has arrived meanwhile may be read.
  private static let afterDelay = Duration.milliseconds(200)

  /// libcurl looks at its times late: the process stood still, or the thread was busy. What has arrived meanwhile is an answer,
  /// and libcurl would look at the time first. So this time is not the transfers'.
  func give(more late: Duration) {
    for transfer in transfers.values {
      guard transfer.isInFlight else {
        transfer.addTime(late)
        continue
      }
      let isFirst = transfer.more == .zero
      guard transfer.giveMore(late + Self.afterDelay) == CURLE_OK, isFirst else { continue }
      lateTimers.add(TransferTimers.Entry(transfer: transfer, generation: transfer.generation), after: transfer.left())
    }
  }

  /// Ends transfers that have got more time, and need still more.
  func endLate() {
    while let entry = lateTimers.popExpired() {
      let transfer = entry.transfer
      guard transfer.isInFlight, transfer.generation == entry.generation else { continue }
      let left = transfer.left()
      if left > .zero {
        lateTimers.add(entry, after: left)
      } else {
        transfer.message.set("The attempt took longer than its time")
        end(transfer, CURLE_OPERATION_TIMEDOUT)
      }
    }
  }

  /// Ends transfers whose response is complete although the target no longer accepts the body: over HTTP/2, a server
  /// may refuse the rest (RFC 9113 §8.1), over HTTP/1.1 it may stop reading. libcurl continues to wait, unless the
  /// status is an error.
  func endUploads() {
    while let entry = uploads.popExpired() {
      let transfer = entry.transfer
      guard transfer.isInFlight || transfer.suspension.isSuspended, transfer.generation == entry.generation else {
        continue
      }
      if transfer.isInFlight, transfer.isStuckBehindAnswer() {
        remove(transfer)
        results.append((transfer.id, transfer.result(CURLE_OK)))
        keep(transfer)
      } else {
        uploads.add(entry, after: Self.uploadPause)
      }
    }
  }
}

internal import CCurl

/// Transfers that are ended from here, at bounds that libcurl does not have.
extension TransferLoop {
  /// Aborts what has not begun to answer in time.
  func abortSilent() {
    while let entry = firstBytes.popExpired() {
      let transfer = entry.transfer
      guard transfer.isInFlight || transfer.naming.isWaiting, transfer.generation == entry.generation,
        transfer.received.headBytes == 0
      else { continue }
      remove(transfer)
      results.append(transfer.result(CURLE_OPERATION_TIMEDOUT, abortedAt: .firstByte))
      keep(transfer)
    }
  }

  /// Ends what was answered before its content had left, and of whose content the target takes no more: over HTTP/2, a
  /// server may say that it wants none (RFC 9113 §8.1), over HTTP/1.1 it may read no further; libcurl goes on waiting for
  /// room to send it, unless the status is one of an error.
  func endUploads() {
    while let entry = uploads.popExpired() {
      let transfer = entry.transfer
      guard transfer.isInFlight || transfer.naming.isWaiting, transfer.generation == entry.generation else { continue }
      if transfer.isInFlight, transfer.isStuckBehindAnswer() {
        remove(transfer)
        results.append(transfer.result(CURLE_OK))
        keep(transfer)
      } else {
        uploads.add(entry, after: Self.uploadPause)
      }
    }
  }
}

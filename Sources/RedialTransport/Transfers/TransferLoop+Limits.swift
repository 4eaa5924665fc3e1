internal import CCurl

/// Transfers that are ended here, at limits that libcurl does not have.
extension TransferLoop {
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

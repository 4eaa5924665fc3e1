internal import CCurl
internal import Glibc

/// A body that is read while it is sent.
extension Transfer {
  /// Makes libcurl fetch the body piece by piece, from the feed of ``TransferLoop``.
  func setContent(from source: any BodySource) -> CURLcode {
    guard upload.feed?.source === source else { return CURLE_BAD_FUNCTION_ARGUMENT }
    let code = redial_curl_set_offset(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(source.size))
    return code == CURLE_OK ? redial_curl_set_pointer(handle, CURLOPT_POSTFIELDS, nil) : code
  }

  /// Passes the next bytes that were read to libcurl, or makes it wait if the next piece is not there yet.
  func give(_ room: UnsafeMutablePointer<CChar>, _ size: Int, from feed: BodyFeed) -> Int {
    switch feed.give(room, size) {
    case .bytes(let count): count
    case .wait: Int(CURL_READFUNC_PAUSE)
    case .fault: Int(CURL_READFUNC_ABORT)
    }
  }

  /// Rewinds the body, which libcurl does before it sends it again.
  func seek(to offset: Int, from origin: Int32) -> Bool { origin == SEEK_SET && upload.seek(to: offset) }

  /// Why no more of the body was available, if the transfer ended because of that.
  func bodyFault(_ code: CURLcode) -> BodyFault? {
    guard let feed = upload.feed, course.sends < 2 else { return nil }
    // A target that waits for a body that is not available here is not slow.
    if code == CURLE_OPERATION_TIMEDOUT, feed.isAwaited { return .late }
    return code == CURLE_ABORTED_BY_CALLBACK ? feed.fault : nil
  }
}

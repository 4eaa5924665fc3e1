internal import CCurl

/// While a request is in flight.
extension Transfer {
  /// Whether the request may be sent: only once. If a reused connection fails before the response, libcurl would send
  /// the request again on a new one, whatever its method; but only the policy may decide whether that is safe.
  func maySend() -> Bool {
    skipPruning()
    return course.send(isReused: dialling.allowed == 0)
  }

  /// Passes the next piece of the body to libcurl.
  func give(_ room: UnsafeMutablePointer<CChar>?, _ size: Int) -> Int {
    guard let room else { return 0 }
    if let feed = upload.feed { return give(room, size, from: feed) }
    return upload.give(room, size)
  }

  func receiveHead(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
    guard let bytes, count > 0 else { return count }
    let line = UnsafeRawBufferPointer(start: bytes, count: count)
    return received.takeHead(line, atMost: configuration.maxResponseHeaderBytes) ? count : 0
  }

  func receiveBody(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
    guard let bytes, count > 0 else { return count }
    let piece = UnsafeRawBufferPointer(start: bytes, count: count)
    if let sink = received.sink, redial_curl_get_long(handle, CURLINFO_RESPONSE_CODE) == 200 {
      return sink(piece) ? count : 0
    }
    let limits = Received.BodyLimits(
      kept: request.captureLimit, received: configuration.maxResponseBytes,
      inflation: options.isInflating ? configuration.maxInflationRatio : nil)
    return received.takeBody(piece, limits) { Int(redial_curl_get_offset(handle, CURLINFO_SIZE_DOWNLOAD_T)) }
      ? count : 0
  }
}

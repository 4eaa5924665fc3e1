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
    let limits = Received.BodyLimits(kept: request.captureLimit, received: configuration.maxResponseBytes)
    return received.takeBody(piece, limits) ? count : 0
  }
}

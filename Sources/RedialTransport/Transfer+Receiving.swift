internal import CCurl
internal import Glibc

/// While a request is in flight.
extension Transfer {
  /// The ratio counts only beyond this many bytes: a page of zeros is not an attack.
  private static let uncheckedBytes = 64 * 1024

  /// Whether the request may be sent: only once. If a reused connection fails before the response, libcurl would send
  /// the request again on a new one, whatever its method; but only the policy may decide whether that is safe.
  func maySend() -> Bool {
    sends += 1
    skipPruning()
    if sends == 1 { isReused = dialling.allowed == 0 }
    return sends == 1
  }

  /// Passes the next piece of the body to libcurl.
  func give(_ room: UnsafeMutablePointer<CChar>?, _ size: Int) -> Int {
    guard let room else { return 0 }
    if let feed = upload.feed { return give(room, size, from: feed) }
    let count = min(size, upload.content.count - upload.sent)
    upload.content.withUnsafeBytes { content in
      guard let base = content.baseAddress, count > 0 else { return }
      memcpy(room, base + upload.sent, count)
    }
    upload.sent += count
    return count
  }

  func receiveHead(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
    guard let bytes, count > 0 else { return count }
    let line = UnsafeRawBufferPointer(start: bytes, count: count)
    return received.takeHead(line, atMost: configuration.maxResponseHeaderBytes) ? count : 0
  }

  func receiveBody(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
    guard let bytes, count > 0 else { return count }
    if let onPiece, redial_curl_get_long(handle, CURLINFO_RESPONSE_CODE) == 200 {
      return onPiece(UnsafeRawBufferPointer(start: bytes, count: count)) ? count : 0
    }
    let room = request.captureLimit - received.body.count
    if room > 0 {
      received.body.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: min(room, count)))
    }
    received.bodyLength += count
    guard received.bodyLength <= max(configuration.maxResponseBytes, request.captureLimit), !isBomb else {
      received.wasEnough = true
      return 0
    }
    return count
  }

  /// Whether a compressed response has inflated to far more than its size.
  private var isBomb: Bool {
    guard isInflating, received.bodyLength > Self.uncheckedBytes else { return false }
    let arrived = Int(redial_curl_get_offset(handle, CURLINFO_SIZE_DOWNLOAD_T))
    return received.bodyLength - Self.uncheckedBytes > max(1, arrived) * configuration.maxInflationRatio
  }
}

extension Transfer.Received {
  /// Receives a line of the header, or of the trailers.
  ///
  /// - Parameter limit: The maximum bytes of all lines together.
  /// - Returns: Whether to continue.
  mutating func takeHead(_ line: UnsafeRawBufferPointer, atMost limit: Int) -> Bool {
    headBytes += line.count
    guard headBytes <= limit else {
      hasOversizedHead = true
      return false
    }
    if line.count <= 2 {
      isHeadWhole = true
      return true
    }
    // A status line begins a new header, for example after 100 Continue; trailers are not part of it.
    if line.count > 5, line[0] == 0x48, line[1] == 0x54, line[2] == 0x54, line[3] == 0x50, line[4] == 0x2F {
      head.removeAll(keepingCapacity: true)
      (isHeadWhole, length, wasInflated) = (false, nil, false)
      return true
    }
    guard bodyLength == 0 else { return true }
    // For the fields that matter here, the first byte and the position of the colon exclude nearly all others.
    if line[0] | 0x20 == UInt8(ascii: "c"), line.count > 15 {
      if line[14] == UInt8(ascii: ":"), Self.starts(line, with: "content-length") {
        return takeLength(line)
      }
      if mayInflate, line.count > 16, line[16] == UInt8(ascii: ":"), Self.starts(line, with: "content-encoding") {
        wasInflated = true
      }
    }
    head.append(contentsOf: line)
    return true
  }

  /// Reads a Content-Length field, which must not differ from an earlier one.
  private mutating func takeLength(_ line: UnsafeRawBufferPointer) -> Bool {
    var (start, end) = (15, line.count)
    while start < end, line[start] <= 0x20 { start += 1 }
    while start < end, line[end - 1] <= 0x20 { end -= 1 }
    let found = head.count + start..<head.count + end
    head.append(contentsOf: line)
    isContradictory = length.map { !head[$0].elementsEqual(head[found]) } ?? false
    length = found
    return !isContradictory
  }

  /// Whether a longer line begins with a name in lower case, ignoring its own case.
  private static func starts(_ line: UnsafeRawBufferPointer, with name: StaticString) -> Bool {
    for place in 0..<name.utf8CodeUnitCount where line[place] | 0x20 != name.utf8Start[place] { return false }
    return true
  }
}

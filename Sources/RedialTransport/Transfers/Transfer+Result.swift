internal import CCurl
internal import Glibc
internal import RedialCore
package import RedialModel

/// After a request has ended.
extension Transfer {
  /// The next request of the attempt, if the response was a redirect that is followed, and the time left for it. The
  /// data for it is moved out of this transfer.
  func next(after code: CURLcode, _ hop: Hop) -> (hop: Hop, timeout: Duration)? {
    guard code == CURLE_OK, course.redirects < request.maxRedirects,
      let location = redial_curl_get_text(handle, CURLINFO_REDIRECT_URL),
      let next = hop.redirected(
        Int(redial_curl_get_long(handle, CURLINFO_RESPONSE_CODE)), to: String(cString: location),
        without: request.secretHeaders),
      let left = course.follow(after: elapsed, of: request.timeout)
    else { return nil }
    return (next, left)
  }

  /// Whether it ended because the host had no address. The name may be wrong, or the local resolver may not work.
  func lacksAddress(_ code: CURLcode) -> Bool {
    code == CURLE_COULDNT_RESOLVE_HOST
      || code == CURLE_OPERATION_TIMEDOUT && course.sends == 0 && dialling.allowed == 0 && dialling.refusal == nil
        && redial_curl_get_offset(handle, CURLINFO_NAMELOOKUP_TIME_T) == 0 && configuration.proxy == nil
  }

  /// Whether the request has content.
  var hasContent: Bool { options.hasContent }

  /// Whether the whole response has arrived, but not the whole body was sent, and none of it since the last check.
  func isStuckBehindAnswer() -> Bool {
    guard upload.isStuck(at: Int(redial_curl_get_offset(handle, CURLINFO_SIZE_UPLOAD_T))), received.isHeadWhole else {
      return false
    }
    let status = redial_curl_get_long(handle, CURLINFO_RESPONSE_CODE)
    guard status >= 200 else { return false }
    if status == 204 || status == 205 { return true }
    // Without a length, only libcurl knows where the response ends.
    guard let length = received.contentLength else { return false }
    return Int(redial_curl_get_offset(handle, CURLINFO_SIZE_DOWNLOAD_T)) >= length
  }

  /// How long the request has taken, in microseconds.
  var elapsed: Int {
    Int(clamping: naming.spent.wholeMicroseconds)
      + (naming.isSuspended ? 0 : Int(redial_curl_get_offset(handle, CURLINFO_TOTAL_TIME_T)))
  }

  /// The result of the attempt, after libcurl has finished with it.
  func result(_ code: CURLcode, isResolverDown: Bool = false) -> AttemptResult {
    let isStarved = dialling.localError != 0
    // Details about a failure are read only after a failure.
    let hasFailed = code != CURLE_OK
    let end = TransferEnd(
      code: code, requestSize: sentBytes,
      systemError: isStarved
        ? dialling.localError : hasFailed ? Int32(clamping: redial_curl_get_long(handle, CURLINFO_OS_ERRNO)) : 0,
      wasRepeated: course.sends > 1,
      wasEnough: received.wasEnough, hasOversizedHead: received.hasOversizedHead,
      isHeadWhole: received.isHeadWhole, isContradictory: received.isContradictory,
      isRefused: isRefused, isForeign: exchange.isForeign,
      refusal: dialling.allowed == 0 && !isStarved ? dialling.refusal : nil,
      hasBeenAnswered: course.hasBeenAnswered,
      verification: hasFailed ? redial_curl_get_long(handle, CURLINFO_SSL_VERIFYRESULT) : 0,
      isProxied: configuration.proxy != nil,
      tunnelStatus: configuration.proxy == nil ? 0 : redial_curl_get_long(handle, CURLINFO_HTTP_CONNECTCODE),
      isResolverDown: isResolverDown, bodyFault: bodyFault(code), detail: hasFailed ? message.text(for: code) : "")
    let duration = course.duration(with: elapsed)
    upload.end()
    var result = AttemptResult(outcome: end.outcome, failure: end.failure, duration: duration)
    result.figures = figures(isSetUp: end.isSetUp)
    guard end.outcome == .answered else { return result }
    result.status = redial_curl_get_long(handle, CURLINFO_RESPONSE_CODE)
    var head = HeaderBlock(bytes: received.head)
    if received.wasInflated { head.removeCoding() }
    let (body, isTruncated) = received.moveBody()
    result.response = CapturedResponse(head: head, body: body, truncated: isTruncated)
    return result
  }

  /// The result of an attempt that was aborted from here.
  func cancelled() -> AttemptResult {
    var result = AttemptResult.cancelled(after: course.duration(with: elapsed))
    result.figures = figures(isSetUp: true)
    upload.end()
    return result
  }

  /// How many bytes of the request were sent, as far as known; 0 if certainly none.
  ///
  /// libcurl's count was measured to be right for plain HTTP/1.1. With TLS, where it may use HTTP/2, a request that was
  /// about to be written counts as sent; and a tunnel's own request to a proxy does not count.
  private var sentBytes: Int {
    guard course.sends > 0 else { return 0 }
    let counted = redial_curl_get_long(handle, CURLINFO_REQUEST_SIZE)
    return configuration.proxy == nil && !dialling.isSecure ? counted : max(1, counted)
  }

  private func figures(isSetUp: Bool) -> ExchangeFigures {
    func time(_ info: CURLINFO) -> Int { Int(redial_curl_get_offset(handle, info)) }
    // libcurl's time of the request starts again after a lookup here.
    func moment(_ info: CURLINFO) -> Int {
      let time = time(info)
      return time == 0 ? 0 : time + Int(clamping: naming.spent.wholeMicroseconds)
    }
    var figures = ExchangeFigures(phase: .setup)
    figures.resolved = moment(CURLINFO_NAMELOOKUP_TIME_T)
    figures.connected = moment(CURLINFO_CONNECT_TIME_T)
    figures.secured = moment(CURLINFO_APPCONNECT_TIME_T)
    figures.firstByte = received.headBytes > 0 ? moment(CURLINFO_STARTTRANSFER_TIME_T) : 0
    if received.headBytes > 0 {
      figures.phase = .response
    } else if course.sends > 0 {
      figures.phase = .request
    } else if dialling.isSecure, let address = redial_curl_get_text(handle, CURLINFO_PRIMARY_IP), address.pointee != 0 {
      // The time of the connection is known only after the TLS handshake; the address, as soon as there is a
      // connection.
      figures.phase = .tls
    } else if isSetUp {
      figures.phase = figures.resolved > 0 ? .connect : .resolve
    }
    figures.bytesSent = course.sends > 0 ? sentBytes + time(CURLINFO_SIZE_UPLOAD_T) : 0
    figures.bytesReceived = received.headBytes + time(CURLINFO_SIZE_DOWNLOAD_T)
    figures.redirects = course.redirects
    if course.sends > 0 {
      figures.isReused = course.isReused
      figures.remotePort = Int(redial_curl_get_long(handle, CURLINFO_PRIMARY_PORT))
      figures.remoteAddress = redial_curl_get_text(handle, CURLINFO_PRIMARY_IP).flatMap { remote.address($0) }
    }
    switch redial_curl_get_long(handle, CURLINFO_HTTP_VERSION) {
    case Int(CURL_HTTP_VERSION_1_0): figures.version = .http10
    case Int(CURL_HTTP_VERSION_1_1): figures.version = .http11
    case Int(CURL_HTTP_VERSION_2_0): figures.version = .http2
    default: break
    }
    return figures
  }
}

extension HeaderBlock {
  /// Removes the fields about the content as it was sent, because it is stored decoded.
  fileprivate mutating func removeCoding() {
    var kept: [UInt8] = []
    kept.reserveCapacity(bytes.count)
    for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true) {
      let name = line.prefix { $0 != UInt8(ascii: ":") }.map { $0 | 0x20 }
      if name.elementsEqual("content-encoding".utf8) || name.elementsEqual("content-length".utf8) { continue }
      kept += line
      kept.append(UInt8(ascii: "\n"))
    }
    bytes = kept
  }
}

extension AttemptResult {
  /// The attempt was aborted from here.
  package static func cancelled(after duration: Duration = .zero) -> AttemptResult {
    AttemptResult(
      outcome: .cancelled, failure: AttemptFailure(code: "cancelled", message: "The attempt was aborted."),
      duration: duration)
  }

  /// The attempt could not begin.
  static var outOfMemory: AttemptResult {
    let end = TransferEnd(code: CURLE_OUT_OF_MEMORY, requestSize: 0)
    return AttemptResult(outcome: end.outcome, failure: end.failure, duration: .zero)
  }
}

internal import CCurl
internal import Glibc
internal import RedialCore
internal import RedialText
package import RedialModel

/// After a request has ended.
extension Transfer {
  /// The next request of the attempt, if the response was a redirect that is followed, and the time left for it. The
  /// data for it is moved out of this transfer.
  func next(_ hop: Hop) -> (hop: Hop, timeout: Duration)? {
    guard course.redirects < request.maxRedirects, let status = received.status, (300...399).contains(status),
      let location = self.location,
      let next = hop.redirected(status, to: location, without: request.secretHeaders),
      let left = course.follow(after: elapsed, of: request.timeout)
    else { return nil }
    return (next, left)
  }

  /// Where a redirect leads, as an absolute URL. libcurl says so only if nothing was wrong with the response.
  private var location: String? {
    guard let field = HeaderBlock(bytes: received.head).first("location"), !field.isEmpty,
      let base = options.parsedURL, let url = curl_url_dup(base)
    else { return nil }
    defer { curl_url_cleanup(url) }
    let text = PercentCoding.asciiURL(field)
    var found: UnsafeMutablePointer<CChar>?
    guard curl_url_set(url, CURLUPART_URL, text, UInt32(CURLU_NON_SUPPORT_SCHEME)) == CURLUE_OK,
      curl_url_get(url, CURLUPART_URL, &found, 0) == CURLUE_OK, let found
    else { return nil }
    defer { curl_free(found) }
    return String(cString: found)
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
    upload.isStuck(at: Int(redial_curl_get_offset(handle, CURLINFO_SIZE_UPLOAD_T))) && received.isComplete
  }

  /// Tells the connection that the request has timed out without an answer. In HTTP/1, it is closed anyway.
  func tellConnection(of code: CURLcode) {
    guard code == CURLE_OPERATION_TIMEDOUT, course.sends > 0, received.headBytes == 0,
      let connection = exchange.connection
    else { return }
    let sent = redial_curl_get_offset(handle, CURLINFO_PRETRANSFER_TIME_T)
    connection.hasFailed(after: .microseconds(redial_curl_get_offset(handle, CURLINFO_TOTAL_TIME_T) - sent))
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
      response: received.progress(hasEnded: !hasFailed), isRefused: isRefused, isForeign: exchange.isForeign,
      refusal: dialling.allowed == 0 && !isStarved ? dialling.refusal : nil,
      hasBeenAnswered: course.hasBeenAnswered,
      verification: hasFailed ? redial_curl_get_long(handle, CURLINFO_SSL_VERIFYRESULT) : 0,
      isProxied: configuration.proxy != nil,
      tunnelStatus: configuration.proxy == nil ? 0 : redial_curl_get_long(handle, CURLINFO_HTTP_CONNECTCODE),
      isConnected: redial_curl_get_offset(handle, CURLINFO_CONNECT_TIME_T) > 0,
      isResolverDown: isResolverDown, bodyFault: bodyFault(code), detail: hasFailed ? message.text(for: code) : "")
    let duration = course.duration(with: elapsed)
    upload.end()
    var result = AttemptResult(outcome: end.outcome, failure: end.failure, duration: duration)
    result.figures = figures(isSetUp: end.isSetUp)
    guard let status = received.status else { return result }
    let content = received.moveContent(isWhole: end.response.isWhole, atMost: request.captureLimit)
    result.status = status
    result.response = content.response
    if content.isFalselyCoded, result.failure == nil { result.failure = TransferEnd.falseCoding }
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

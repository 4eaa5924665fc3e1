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

  /// Which helper may be at fault for the end in the target's place: the resolver, if the host had no address; the proxy, if
  /// neither it nor a target behind it has said anything.
  func doubt(_ code: CURLcode) -> Helper? {
    if code == CURLE_COULDNT_RESOLVE_HOST { return .resolver }
    guard code == CURLE_OPERATION_TIMEDOUT else { return nil }
    if configuration.proxy != nil {
      let isTunnel = redial_curl_get_long(handle, CURLINFO_HTTP_CONNECTCODE) != 0
      return isConnected && received.headBytes == 0 && !isTunnel ? .proxy : nil
    }
    let hasName = redial_curl_get_offset(handle, CURLINFO_NAMELOOKUP_TIME_T) > 0
    return course.sends == 0 && dialling.allowed == 0 && dialling.refusal == nil && !hasName ? .resolver : nil
  }

  /// Whether there was a connection to the proxy or, without one, to the target. Its time is known only after a tunnel was made,
  /// and after the TLS handshake.
  private var isConnected: Bool { course.sends > 0 || hasAddress }

  /// Whether libcurl says where its connection leads, which it knows as soon as there is one.
  private var hasAddress: Bool { redial_curl_get_text(handle, CURLINFO_PRIMARY_IP).map { $0.pointee != 0 } ?? false }

  /// Whether the request has content.
  var hasContent: Bool { options.hasContent }

  /// Whether the response is there, but not the whole body was sent, and nothing more came or went since the last check.
  ///
  /// Of a response that is no success, the content need not have an end: in HTTP/2 libcurl does not say that it came, as
  /// long as it has something to send.
  func isStuckBehindAnswer() -> Bool {
    let moved = [CURLINFO_SIZE_UPLOAD_T, CURLINFO_SIZE_DOWNLOAD_T].reduce(0) { $0 + redial_curl_get_offset(handle, $1) }
    guard upload.isStuck(at: Int(moved)) else { return false }
    return received.isComplete || received.isHeadWhole && received.status.map { !(200...299).contains($0) } == true
  }

  /// Notes what the end of the request says of its connection and its origin.
  func learn(from code: CURLcode) {
    guard code != CURLE_OK, let memory else { return }
    if code == CURLE_OPERATION_TIMEDOUT { learnFromSilence(memory) }
    if options.isPlain {
      if received.status == nil { memory.refusePlain(dialling.url, in: request.group) }
    } else if exchange.needsHTTP1 || exchange.connection?.requiresHTTP1 == true || hasFailedByHTTP2(code) {
      memory.requirePlain(dialling.url, in: request.group)
    }
  }

  private func learnFromSilence(_ memory: OriginMemory) {
    if course.sends == 0 { return memory.noteSilent(dialling.silent(), of: dialling.url) }
    // In HTTP/1, its connection is closed anyway.
    guard received.headBytes == 0, let connection = exchange.connection else { return }
    let sent = redial_curl_get_offset(handle, CURLINFO_PRETRANSFER_TIME_T)
    connection.hasFailed(after: .microseconds(redial_curl_get_offset(handle, CURLINFO_TOTAL_TIME_T) - sent))
    if connection.isLeft { memory.renew(dialling.url, in: request.group, from: group) }
  }

  /// Whether HTTP/2 was at fault, so that the next attempt does better with HTTP/1.1.
  private func hasFailedByHTTP2(_ code: CURLcode) -> Bool {
    guard dialling.isSecure, exchange.connection?.hasSpokenHTTP1 == false else { return false }
    if message.tellsOfBrokenHTTP2 { return true }
    // A response before the end of its request, whose own end libcurl does not tell as long as it has something to send.
    let isEarly = uploaded < exchange.contentSize
    if isEarly, received.isHeadWhole { return true }
    // An older one loses the begin of a header of more than 64 KiB, and a whole response before the end of its request.
    guard LibCurl.needsFreshHandles else { return false }
    return code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_HTTP2_STREAM && isEarly
  }

  /// How long the request has taken, in microseconds.
  var elapsed: Int {
    Int(clamping: suspension.spent.wholeMicroseconds)
      + (suspension.isSuspended ? 0 : Int(redial_curl_get_offset(handle, CURLINFO_TOTAL_TIME_T)))
  }

  /// The result of the attempt, after libcurl has finished with it.
  ///
  /// - Parameter down: The helper that does not work, and so is at fault.
  func result(_ code: CURLcode, without down: Helper? = nil) -> AttemptResult {
    let code = code == CURLE_OK && isCutInTLS ? CURLE_PARTIAL_FILE : code
    let isStarved = dialling.localError != 0
    // Details about a failure are read only after a failure.
    let hasFailed = code != CURLE_OK
    let end = TransferEnd(
      code: code, requestSize: sentBytes,
      systemError: isStarved
        ? dialling.localError : hasFailed ? Int32(clamping: redial_curl_get_long(handle, CURLINFO_OS_ERRNO)) : 0,
      wasRepeated: course.sends > 1, isUnnamed: exchange.isUnnamed, needsHTTP1: exchange.needsHTTP1,
      response: received.progress(hasEnded: !hasFailed), isRefused: isRefused, isForeign: exchange.isForeign,
      refusal: dialling.allowed == 0 && !isStarved ? dialling.refusal : nil,
      hasBeenAnswered: course.hasBeenAnswered,
      verification: hasFailed ? redial_curl_get_long(handle, CURLINFO_SSL_VERIFYRESULT) : 0,
      isProxied: configuration.proxy != nil,
      tunnelStatus: configuration.proxy == nil ? 0 : redial_curl_get_long(handle, CURLINFO_HTTP_CONNECTCODE),
      needsTunnel: dialling.isSecure,
      isConnected: isConnected, down: down, bodyFault: bodyFault(code),
      detail: hasFailed ? options.plain(message.text(for: code)) : ""
    )
    let duration = course.duration(with: elapsed)
    upload.end()
    var result = AttemptResult(outcome: end.outcome, failure: end.failure, duration: duration)
    result.figures = figures(isSetUp: end.isSetUp)
    // The target got nothing of it.
    if end.isStrangerToProxy { result.figures?.phase = .connect }
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

  /// Whether the connection has ended as anyone between could end it, and with it a content that has no other end (RFC 9112
  /// §9.8). An older libcurl takes that for the end.
  private var isCutInTLS: Bool {
    guard LibCurl.needsFreshHandles, dialling.isSecure, received.isHeadWhole, received.framing.endsWithConnection,
      let connection = exchange.connection
    else { return false }
    return !connection.session.pointee.isEnded
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
      return time == 0 ? 0 : time + Int(clamping: suspension.spent.wholeMicroseconds)
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
    } else if dialling.isSecure, hasAddress {
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

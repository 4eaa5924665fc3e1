internal import CCurl
internal import RedialCore
internal import RedialModel

/// Before a request is sent.
extension Transfer {
  /// Prepares the first request of an attempt.
  ///
  /// - Parameter spent: How much of its time has passed already.
  /// - Returns: The code of an option that could not be set; `CURLE_OK` if it may begin.
  func prepare(_ request: TransportRequest, after spent: Duration = .zero) -> CURLcode {
    self.request = request
    course.begin(after: spent)
    return prepare(
      Hop(
        url: request.url, method: request.method, headers: request.headers, body: request.body, source: request.source),
      timeout: request.timeout - spent)
  }

  /// Prepares one request of an attempt.
  ///
  /// - Parameter isAlone: Whether it gets a connection of its own.
  func prepare(_ hop: Hop, timeout: Duration, isAlone: Bool = false) -> CURLcode {
    guard renewHandle() else { return CURLE_OUT_OF_MEMORY }
    course.beginRequest(within: timeout)
    let contentSize = hop.source?.size ?? hop.body.count
    exchange = Exchange(contentSize: hop.method == "HEAD" ? 0 : contentSize)
    upload.beginChecks()
    naming.begin()
    suspension = Suspension()
    more = .zero
    message.clear()
    received.begin(hop.method)
    guard dialling.begin(hop.url) else { return CURLE_COULDNT_CONNECT }
    // What is taken in pieces is not collected, and so not decoded.
    received.mayDecode = lines.set(hop.headers, contentBytes: contentSize, asksForCoding: received.sink == nil)
    var code = options.setURL(hop.url)
    let known = memory?.advice(on: hop.url, in: request.group) ?? OriginMemory.Advice(group: request.group)
    group = known.group
    let isCrowded = dialling.isSecure && !known.isPlain
    crowding.begin(in: isCrowded ? memory?.crowd(on: hop.url, in: group, with: tls(for: hop)) ?? 0 : 0)
    if code == CURLE_OK { code = options.setReuse(isAllowed: !isAlone, by: group) }
    if code == CURLE_OK { code = options.setVersion(isPlain: known.isPlain) }
    if code == CURLE_OK, memory?.takeStale(hop.url) == true { code = forgetAddresses() }
    if code == CURLE_OK { code = setMethod(hop.method, hop.body, hop.source) }
    if code == CURLE_OK { code = redial_curl_set_headers(handle, lines.first) }
    if code == CURLE_OK { code = setTimeouts(after: .zero) }
    if code == CURLE_OK { code = options.setAddressTime(Self.seconds(configuration.nameCacheTime)) }
    if code == CURLE_OK { code = options.setBuffer(isForHTTP2: dialling.isSecure) }
    if code == CURLE_OK { code = setTLS(for: hop) }
    return code
  }

  /// Sets the rest of the request's time, and of the time to connect.
  ///
  /// - Parameter spent: How much of both has passed already.
  func setTimeouts(after spent: Duration) -> CURLcode {
    options.setTimeouts(
      Self.milliseconds(course.timeLimit + more - spent),
      toConnect: Self.milliseconds(configuration.connectTimeout + more - (spent - crowding.waited)))
  }

  /// How much of its time the current request has left, before it is sent that to connect.
  func left(at now: ContinuousClock.Instant = .now) -> Duration {
    let limit = course.sends > 0 ? course.timeLimit : min(course.timeLimit, longestToConnect)
    return limit + more - suspension.spent - (now - begun)
  }

  /// How long it may take until a connection is there. The wait for a stream is not part of connecting.
  var longestToConnect: Duration { configuration.connectTimeout + crowding.waited }

  /// Gives the current request more time: as much as it has by itself for many delays, and what it takes for a long one.
  func giveMore(_ time: Duration) -> CURLcode {
    addTime(time)
    return setTimeouts(after: suspension.spent)
  }

  /// The same, while libcurl does not have it.
  func addTime(_ time: Duration) { more = max(time, min(more + time, course.timeLimit)) }

  private func setMethod(_ method: String, _ content: [UInt8], _ source: (any BodySource)?) -> CURLcode {
    // RFC 9110 section 8.6: a method that anticipates content says so when there is none.
    let hasContent =
      method != "HEAD"
      && (!content.isEmpty || source != nil || method == "POST" || method == "PUT" || method == "PATCH")
    if hasContent {
      let code = source.map { setContent(from: $0) } ?? setContent(content)
      guard code == CURLE_OK else { return code }
    }
    return options.setMethod(method, hasContent: hasContent)
  }

  private func setContent(_ content: [UInt8]) -> CURLcode {
    let code = redial_curl_set_offset(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(content.count))
    return code == CURLE_OK ? redial_curl_set_pointer(handle, CURLOPT_POSTFIELDS, upload.begin(content)) : code
  }

  private func tls(for hop: Hop) -> TargetTLS? {
    request.tls?.settings(for: hop.url, isRedirected: hop.hasChangedOrigin)
  }

  /// Sets how the two ends of a connection prove their identity.
  private func setTLS(for hop: Hop) -> CURLcode {
    guard dialling.isSecure else { return CURLE_OK }
    return options.setTLS(tls(for: hop), otherwise: configuration.tls)
  }
}

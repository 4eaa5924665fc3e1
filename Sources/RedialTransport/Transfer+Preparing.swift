internal import CCurl
internal import RedialCore
internal import RedialModel

/// Before a request is sent.
extension Transfer {
  /// Larger bodies are sent piece by piece; smaller ones are sent together with the header in one packet.
  private static let copiedBodyBytes = 64 * 1024
  /// From this size on libcurl may ask for permission to send the body (RFC 9110 section 10.1.1), which costs a second
  /// if the server does not answer: 1 MiB in today's versions, 1 KiB in those before 7.62.
  private static let expectableBytes = 1024

  /// Prepares the first request of an attempt.
  ///
  /// - Parameter spent: How much of its time has passed already.
  /// - Returns: The code of an option that could not be set; `CURLE_OK` if it may begin.
  func prepare(_ request: TransportRequest, after spent: Duration = .zero) -> CURLcode {
    self.request = request
    (redirects, earlier) = (0, Int(clamping: spent.wholeMicroseconds))
    return prepare(
      Hop(
        url: request.url, method: request.method, headers: request.headers, body: request.body, source: request.source),
      timeout: request.timeout - spent)
  }

  /// Prepares one request of an attempt.
  func prepare(_ hop: Hop, timeout: Duration) -> CURLcode {
    generation += 1
    received.head.removeAll(keepingCapacity: true)
    received.body = []
    (received.headBytes, received.bodyLength, sends) = (0, 0, 0)
    (received.hasOversizedHead, received.wasEnough, received.isHeadWhole) = (false, false, false)
    (received.isContradictory, received.length, isReused) = (false, nil, false)
    (received.wasInflated, uploaded) = (false, 0)
    naming.begin()
    timeLimit = timeout
    message.pointee = 0
    guard dialling.begin(hop.url) else { return CURLE_COULDNT_CONNECT }
    guard setFields(hop.headers, contentBytes: hop.source?.size ?? hop.body.count) else { return CURLE_OUT_OF_MEMORY }
    received.mayInflate = isInflating && hop.method != "HEAD"
    var code = CURLE_OK
    // A handle mostly serves the same target again, and libcurl keeps its options.
    if hop.url != last.url {
      code = setURL(hop.url)
      last.url = code == CURLE_OK ? hop.url : ""
    }
    if code == CURLE_OK { code = setMethod(hop.method, hop.body, hop.source) }
    if code == CURLE_OK { code = redial_curl_set_headers(handle, fields.first) }
    if code == CURLE_OK { code = setTimeouts(after: .zero) }
    let seconds = Self.seconds(configuration.nameCacheTime)
    if code == CURLE_OK, last.addressTime != seconds {
      code = redial_curl_set_long(handle, CURLOPT_DNS_CACHE_TIMEOUT, seconds)
      last.addressTime = seconds
    }
    if code == CURLE_OK { code = setTLS(for: hop) }
    return code
  }

  /// Sets the rest of the request's time, and of the time to connect.
  ///
  /// - Parameter spent: How much of both has passed already.
  func setTimeouts(after spent: Duration) -> CURLcode {
    var code = CURLE_OK
    let milliseconds = Self.milliseconds(timeLimit - spent)
    if milliseconds != last.timeout {
      code = redial_curl_set_long(handle, CURLOPT_TIMEOUT_MS, milliseconds)
      last.timeout = code == CURLE_OK ? milliseconds : -1
    }
    let toConnect = Self.milliseconds(configuration.connectTimeout - spent)
    if code == CURLE_OK, toConnect != last.connectTimeout {
      code = redial_curl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, toConnect)
      last.connectTimeout = code == CURLE_OK ? toConnect : -1
    }
    return code
  }

  private func setMethod(_ method: String, _ content: [UInt8], _ source: (any BodySource)?) -> CURLcode {
    // RFC 9110 section 8.6: a method that anticipates content says so when there is none.
    let hasContent =
      method != "HEAD"
      && (!content.isEmpty || source != nil || method == "POST" || method == "PUT" || method == "PATCH")
    if hasContent, let code = failure(of: source.map { setContent(from: $0) } ?? setContent(content)) { return code }
    guard method != last.method || hasContent != last.hasContent else { return CURLE_OK }
    last.method = ""
    // Resets all options of the previous request.
    var codes = [redial_curl_set_text(handle, CURLOPT_CUSTOMREQUEST, nil)]
    if hasContent {
      codes.append(redial_curl_set_long(handle, CURLOPT_NOBODY, 0))
      codes.append(redial_curl_set_long(handle, CURLOPT_POST, 1))
    } else {
      codes.append(redial_curl_set_long(handle, CURLOPT_HTTPGET, 1))
      if method == "HEAD" { codes.append(redial_curl_set_long(handle, CURLOPT_NOBODY, 1)) }
    }
    if method != (hasContent ? "POST" : "GET"), method != "HEAD" {
      codes.append(redial_curl_set_text(handle, CURLOPT_CUSTOMREQUEST, method))
    }
    if let code = codes.first(where: { $0 != CURLE_OK }) { return code }
    (last.method, last.hasContent) = (method, hasContent)
    return CURLE_OK
  }

  private func failure(of code: CURLcode) -> CURLcode? { code == CURLE_OK ? nil : code }

  private func setContent(_ content: [UInt8]) -> CURLcode {
    let code = redial_curl_set_offset(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(content.count))
    guard code == CURLE_OK else { return code }
    guard content.count <= Self.copiedBodyBytes else {
      upload = Upload(content: content)
      return redial_curl_set_pointer(handle, CURLOPT_POSTFIELDS, nil)
    }
    if small.count < content.count {
      small.deallocate()
      small = .allocate(byteCount: content.count, alignment: 1)
    }
    small.copyBytes(from: content)
    return redial_curl_set_pointer(handle, CURLOPT_POSTFIELDS, small.baseAddress)
  }

  /// Gives libcurl the header fields, and removes those that it would add itself.
  ///
  /// - Parameter contentBytes: The length of the request's body.
  private func setFields(_ headers: [HeaderField], contentBytes: Int) -> Bool {
    var bytes = 0
    for header in headers { bytes += header.name.utf8.count + header.value.utf8.count + 3 }
    fields.begin(lines: 5, fields: headers.count, bytes: bytes)
    var (hasAccept, hasType, hasAgent, hasCoding) = (false, false, false, false)
    for header in headers {
      let name = fields.append(header)
      switch name.count {
      case 6: hasAccept = hasAccept || Self.isNamed(name, "accept")
      case 12: hasType = hasType || Self.isNamed(name, "content-type")
      case 10: hasAgent = hasAgent || Self.isNamed(name, "user-agent")
      case 15: hasCoding = hasCoding || Self.isNamed(name, "accept-encoding")
      default: break
      }
    }
    // Not for fields that libcurl never adds: long lists cost it time.
    if contentBytes >= Self.expectableBytes { fields.prepend(FieldList.Line("Expect:")) }
    if !hasType { fields.prepend(FieldList.Line("Content-Type:")) }
    // A call that sets an accepted coding itself gets the response unchanged. Libcurl decodes because of this option,
    // and would otherwise also send a line of it twice that is not in the list.
    if !hasCoding { fields.prepend(FieldList.Line("Accept-Encoding: gzip, deflate")) }
    if !hasAccept { fields.prepend(FieldList.Line("Accept:")) }
    if !hasAgent { fields.prepend(FieldList.Line(userAgentLine)) }
    guard hasCoding == isInflating else { return true }
    isInflating.toggle()
    return redial_curl_set_text(handle, CURLOPT_ACCEPT_ENCODING, isInflating ? "gzip, deflate" : nil) == CURLE_OK
  }

  /// Whether a name of equal length is the same, ignoring case.
  private static func isNamed(_ name: UnsafeBufferPointer<CChar>, _ lowercase: StaticString) -> Bool {
    let wanted = lowercase.utf8Start
    for place in 0..<name.count where UInt8(bitPattern: name[place]) | 0x20 != wanted[place] { return false }
    return true
  }
}

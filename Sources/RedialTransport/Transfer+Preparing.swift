internal import CCurl
internal import RedialCore
internal import RedialModel

/// Before a request is sent.
extension Transfer {
  /// Bodies larger than this are handed over piece by piece; smaller ones leave with the header in one packet.
  private static let copiedBodyBytes = 64 * 1024

  /// Prepares the first request of an attempt.
  ///
  /// - Returns: The code of what could not be set; `CURLE_OK` when it may begin.
  func prepare(_ request: TransportRequest) -> CURLcode {
    self.request = request
    (redirects, earlier) = (0, 0)
    return prepare(
      Hop(url: request.url, method: request.method, headers: request.headers, body: request.body),
      timeout: request.timeout)
  }

  /// Prepares one request of an attempt.
  func prepare(_ hop: Hop, timeout: Duration) -> CURLcode {
    generation += 1
    received.head.removeAll(keepingCapacity: true)
    received.body = []
    (received.headBytes, received.bodyLength, sends) = (0, 0, 0)
    (received.hasOversizedHead, received.wasEnough, received.isHeadWhole) = (false, false, false)
    (received.isContradictory, received.length, isReused) = (false, nil, false)
    received.wasInflated = false
    message.pointee = 0
    guard dialling.begin(hop.url) else { return CURLE_COULDNT_CONNECT }
    guard setFields(hop.headers) else { return CURLE_OUT_OF_MEMORY }
    var code = redial_curl_set_text(handle, CURLOPT_URL, hop.url)
    if code == CURLE_OK { code = setMethod(hop.method, hop.body) }
    if code == CURLE_OK { code = redial_curl_set_headers(handle, fields) }
    if code == CURLE_OK { code = redial_curl_set_long(handle, CURLOPT_TIMEOUT_MS, Self.milliseconds(timeout)) }
    if code == CURLE_OK { code = setTLS(for: hop) }
    return code
  }

  private func setMethod(_ method: String, _ content: [UInt8]) -> CURLcode {
    // Takes back whatever the request before has set.
    var code = redial_curl_set_long(handle, CURLOPT_HTTPGET, 1)
    if code == CURLE_OK { code = redial_curl_set_text(handle, CURLOPT_CUSTOMREQUEST, nil) }
    guard code == CURLE_OK else { return code }
    if method == "HEAD" { return redial_curl_set_long(handle, CURLOPT_NOBODY, 1) }
    // RFC 9110 section 8.6: a method that anticipates content says so when there is none.
    if !content.isEmpty || ["POST", "PUT", "PATCH"].contains(method) {
      code = setContent(content)
      if code == CURLE_OK { code = redial_curl_set_long(handle, CURLOPT_POST, 1) }
      return code == CURLE_OK && method != "POST"
        ? redial_curl_set_text(handle, CURLOPT_CUSTOMREQUEST, method) : code
    }
    return method == "GET" ? CURLE_OK : redial_curl_set_text(handle, CURLOPT_CUSTOMREQUEST, method)
  }

  private func setContent(_ content: [UInt8]) -> CURLcode {
    let code = redial_curl_set_offset(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(content.count))
    guard code == CURLE_OK else { return code }
    guard content.count <= Self.copiedBodyBytes else {
      upload = Upload(content: content)
      return redial_curl_set_pointer(handle, CURLOPT_COPYPOSTFIELDS, nil)
    }
    return content.withUnsafeBytes { bytes in
      // Never null, which would have libcurl ask for the content elsewhere.
      withUnsafePointer(to: 0 as UInt8) { none in
        redial_curl_set_pointer(handle, CURLOPT_COPYPOSTFIELDS, bytes.baseAddress ?? UnsafeRawPointer(none))
      }
    }
  }

  /// Gives libcurl the header fields, and takes out those that it would add on its own account.
  private func setFields(_ headers: [HeaderField]) -> Bool {
    curl_slist_free_all(fields)
    fields = nil
    var (hasAccept, hasType, hasAgent, hasEncoding) = (false, false, false, false)
    for header in headers {
      switch header.name.utf8.count {
      case 6 where header.name.lowercased() == "accept": hasAccept = true
      case 12 where header.name.lowercased() == "content-type": hasType = true
      case 10 where header.name.lowercased() == "user-agent": hasAgent = true
      case 15 where header.name.lowercased() == "accept-encoding": hasEncoding = true
      default: break
      }
      // In libcurl's list, a field without a value ends in a semicolon.
      guard append(header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)") else { return false }
    }
    if !hasAgent, !append("User-Agent: \(configuration.userAgent)") { return false }
    // Who asks for a coding gets what it asked for, as it came.
    if hasEncoding == isInflating {
      isInflating.toggle()
      let code = redial_curl_set_text(handle, CURLOPT_ACCEPT_ENCODING, isInflating ? "gzip, deflate" : nil)
      guard code == CURLE_OK else { return false }
    }
    return (hasAccept || append("Accept:")) && (hasType || append("Content-Type:")) && append("Expect:")
  }

  private func append(_ line: String) -> Bool {
    guard let longer = curl_slist_append(fields, line) else { return false }
    fields = longer
    return true
  }
}

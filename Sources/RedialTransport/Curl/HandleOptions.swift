internal import CCurl
internal import RedialModel
internal import RedialText

/// The options that libcurl has for a handle. A handle mostly serves the same target again, and libcurl keeps its
/// options, so only those that differ are set.
///
/// Sound: the handle outlives it, because the transfer that has both frees the handle only at its own end, and uses the
/// options no more then. libcurl reads the parsed URL until it gets another one, or the handle is freed.
struct HandleOptions: ~Copyable {
  private let handle: UnsafeMutableRawPointer
  private var url = ""
  /// The parsed URL, which libcurl copies for each request instead of parsing it again.
  private(set) var parsedURL: OpaquePointer?
  private var method = ""
  /// Whether the request has content.
  private(set) var hasContent = false
  private var timeout = -1
  private var connectTimeout = -1
  private var addressTime = 0
  /// How much libcurl reads at once, in bytes.
  private var bufferSize = 16_384
  /// Whether the request gets a connection of its own.
  private(set) var isAlone = false
  /// Whether no request after it may use its connection.
  private var isLast = false
  /// Whether libcurl says what it does.
  private var isHeard = false
  /// Whether HTTP/2 is not used, even if a server would choose it.
  private(set) var isPlain = false
  private var scope: UInt32 = 0
  /// The TLS settings of the target that the handle last called, and the files of issuers as they were then: that for the target,
  /// and that for all.
  private var identity: TargetTLS?
  private var issuers: IssuersFile?
  private var generalIssuers: IssuersFile?

  init(handle: UnsafeMutableRawPointer) { self.handle = handle }

  deinit { curl_url_cleanup(parsedURL) }

  /// Sets the URL of the next requests, and makes libcurl parse it once for all of them.
  mutating func setURL(_ text: String) -> CURLcode {
    guard text != url else { return CURLE_OK }
    url = ""
    // A new one each time: to one that already has a URL, another text may be a relative reference.
    let parsed = curl_url()
    defer {
      curl_url_cleanup(parsedURL)
      parsedURL = parsed
    }
    let isRead = parsed != nil && curl_url_set(parsed, CURLUPART_URL, text, Self.urlReading) == CURLUE_OK
    // If it cannot be parsed, libcurl parses the text itself and reports why it cannot.
    var code = redial_curl_set_pointer(handle, CURLOPT_CURLU, isRead ? parsed.map { UnsafeRawPointer($0) } : nil)
    if code == CURLE_OK { code = redial_curl_set_text(handle, CURLOPT_URL, text) }
    if code == CURLE_OK { url = text }
    return code
  }

  /// Like libcurl's parsing of a URL that is given as text, with `CURLOPT_PATH_AS_IS`.
  private static let urlReading = UInt32(CURLU_GUESS_SCHEME | CURLU_NON_SUPPORT_SCHEME | CURLU_PATH_AS_IS)

  /// Sets whether the request may use a connection that has served before, and which.
  ///
  /// - Parameter group: Those of one group. It is given to libcurl as a scope of addresses, which keeps them apart;
  ///   the system reads it only with link-local addresses, which are never called.
  mutating func setReuse(isAllowed: Bool, by group: Int) -> CURLcode {
    let scope = UInt32(truncatingIfNeeded: group)
    var code = CURLE_OK
    if isAllowed == isAlone {
      code = redial_curl_set_long(handle, CURLOPT_FRESH_CONNECT, isAllowed ? 0 : 1)
      if code == CURLE_OK { isAlone = !isAllowed }
    }
    if code == CURLE_OK, isLast {
      code = redial_curl_set_long(handle, CURLOPT_FORBID_REUSE, 0)
      if code == CURLE_OK { isLast = false }
    }
    if code == CURLE_OK, isHeard {
      code = redial_curl_set_long(handle, CURLOPT_VERBOSE, 0)
      if code == CURLE_OK { isHeard = false }
    }
    if code == CURLE_OK, scope != self.scope {
      code = redial_curl_set_long(handle, CURLOPT_ADDRESS_SCOPE, Int(scope))
      if code == CURLE_OK { self.scope = scope }
    }
    return code
  }

  /// Sets whether the request is sent over HTTP/1.1 in any case, or over HTTP/2 if the server chooses it within TLS.
  mutating func setVersion(isPlain: Bool) -> CURLcode {
    guard isPlain != self.isPlain else { return CURLE_OK }
    let version = isPlain ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS
    let code = redial_curl_set_long(handle, CURLOPT_HTTP_VERSION, Int(version))
    if code == CURLE_OK { self.isPlain = isPlain }
    return code
  }

  /// Makes libcurl say what it does about the current request.
  mutating func listen(_ isWanted: Bool = true) {
    guard isHeard != isWanted else { return }
    if redial_curl_set_long(handle, CURLOPT_VERBOSE, isWanted ? 1 : 0) == CURLE_OK { isHeard = isWanted }
  }

  /// Makes the current request the last one on its connection.
  mutating func forbidReuse() {
    guard !isLast else { return }
    isLast = redial_curl_set_long(handle, CURLOPT_FORBID_REUSE, 1) == CURLE_OK
  }

  /// Sets the method, and whether the request has content.
  mutating func setMethod(_ method: String, hasContent: Bool) -> CURLcode {
    guard method != self.method || hasContent != self.hasContent else { return CURLE_OK }
    self.method = ""
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
    (self.method, self.hasContent) = (method, hasContent)
    return CURLE_OK
  }

  /// Sets the time for a request, and the part of it for connecting, in milliseconds.
  mutating func setTimeouts(_ whole: Int, toConnect: Int) -> CURLcode {
    var code = CURLE_OK
    if whole != timeout {
      code = redial_curl_set_long(handle, CURLOPT_TIMEOUT_MS, whole)
      timeout = code == CURLE_OK ? whole : -1
    }
    if code == CURLE_OK, toConnect != connectTimeout {
      code = redial_curl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, toConnect)
      connectTimeout = code == CURLE_OK ? toConnect : -1
    }
    return code
  }

  /// Sets how long libcurl uses an address that it found, in seconds.
  mutating func setAddressTime(_ seconds: Int) -> CURLcode {
    guard seconds != addressTime else { return CURLE_OK }
    let code = redial_curl_set_long(handle, CURLOPT_DNS_CACHE_TIMEOUT, seconds)
    if code == CURLE_OK { addressTime = seconds }
    return code
  }

  /// Sets how much libcurl reads at once. An older one forgets what is left in its buffer if a response of HTTP/2 ends there.
  mutating func setBuffer(isForHTTP2 isSecure: Bool) -> CURLcode {
    let size = isSecure && LibCurl.needsFreshHandles ? 65_536 : 16_384
    guard size != bufferSize else { return CURLE_OK }
    let code = redial_curl_set_long(handle, CURLOPT_BUFFERSIZE, size)
    if code == CURLE_OK { bufferSize = size }
    return code
  }

  /// Whether libcurl goes through all cached addresses at the end of the transfer.
  ///
  /// The lifetime of addresses also controls this: -1, for forever, turns it off.
  var isPruning: Bool { addressTime != -1 }

  /// Makes libcurl not go through them, until the lifetime is set again.
  mutating func stopPruning() {
    if redial_curl_set_long(handle, CURLOPT_DNS_CACHE_TIMEOUT, -1) == CURLE_OK { addressTime = -1 }
  }

  /// Sets how the two ends of a connection prove their identity, unless the handle has these settings already.
  ///
  /// - Parameter target: The settings of one target; nil for the general ones.
  mutating func setTLS(_ target: TargetTLS?, otherwise general: TLSSettings) -> CURLcode {
    let all = general.trustedIssuers.map { IssuersFile($0) }
    let file = target?.caFile.map { IssuersFile($0) } ?? all
    guard TLSFile.mayRead(target) else { return CURLE_SSL_CERTPROBLEM }
    guard file?.mayBeRead ?? true else { return CURLE_SSL_CACERT_BADFILE }
    if target == identity, file == issuers, all == generalIssuers { return CURLE_OK }
    return resetTLS(target, otherwise: general, file, all)
  }

  /// A message of libcurl, with the names of files of issuers as they were given.
  func plain(_ message: String) -> String {
    var message = message
    for case let file? in [issuers, generalIssuers] { message = message.replacing(file.name, with: file.path) }
    return message
  }

  /// Sets them for a new handle.
  mutating func resetTLS(otherwise general: TLSSettings) -> CURLcode {
    let all = general.trustedIssuers.map { IssuersFile($0) }
    return resetTLS(nil, otherwise: general, all, all)
  }

  /// The same, whatever settings the handle has.
  ///
  /// - Parameters:
  ///   - file: The file of issuers for the target; nil for the system's.
  ///   - all: That for all targets and for the proxy.
  private mutating func resetTLS(
    _ target: TargetTLS?, otherwise general: TLSSettings, _ file: IssuersFile?, _ all: IssuersFile?
  ) -> CURLcode {
    let pins = (target?.pins ?? []).map { "sha256//\($0)" }.joined(separator: ";")
    for (option, text) in [
      (CURLOPT_SSLCERT, target?.certificate), (CURLOPT_SSLKEY, target?.key),
      (CURLOPT_PINNEDPUBLICKEY, pins.isEmpty ? nil : pins),
      // Settings with issuers trust no others, so the system's folder of issuers is removed too.
      (CURLOPT_CAINFO, file?.name ?? SystemIssuers.found.file),
      (CURLOPT_CAPATH, file == nil ? SystemIssuers.found.folder : nil),
      (CURLOPT_PROXY_CAINFO, all?.name ?? SystemIssuers.found.file),
      (CURLOPT_PROXY_CAPATH, all == nil ? SystemIssuers.found.folder : nil),
    ] {
      let code = redial_curl_set_text(handle, option, text)
      guard code == CURLE_OK else { return code }
    }
    // Files are read when a connection is made, since they may have been replaced: so issuers are kept for as long as their
    // file is the same, and the system's for a day; and no session is resumed, which has the certificates of its first connection.
    let hasFiles = file != nil || target?.certificate != nil
    for (option, value) in [
      (CURLOPT_CA_CACHE_TIMEOUT, [file, all].allSatisfy { $0?.isKept ?? true } ? 86_400 : 0),
      (CURLOPT_SSL_SESSIONID_CACHE, hasFiles ? 0 : 1),
    ] {
      let code = redial_curl_set_long(handle, option, value)
      guard code == CURLE_OK else { return code }
    }
    // CURL_SSLVERSION_TLSv1_2 and _3, which are values of an unnamed enumeration in C.
    let version = (target?.minVersion ?? general.minimumVersion) == .tls13 ? 7 : 6
    let code = redial_curl_set_long(handle, CURLOPT_SSLVERSION, version)
    if code == CURLE_OK { (identity, issuers, generalIssuers) = (target, file, all) }
    return code
  }
}

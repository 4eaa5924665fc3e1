internal import CCurl
internal import Glibc
internal import RedialCore
internal import RedialModel

/// A libcurl easy handle, and what its callbacks gather of the transfer at hand. It serves one request after another.
///
/// Not `Sendable`: it belongs to the thread that drives its transfer.
final class Transfer {
  let handle: UnsafeMutableRawPointer
  private let configuration: TransportConfiguration
  /// Libcurl writes what it has to say about a failure here.
  private let message: UnsafeMutablePointer<CChar>

  private(set) var id: UInt64 = 0
  private var fields: UnsafeMutablePointer<curl_slist>?
  private var captureLimit = 0
  private var head: [UInt8] = []
  private var headBytes = 0
  private var body: [UInt8] = []
  private var bodyLength = 0
  private var sends = 0
  private var hasOversizedHead = false
  private var dialling: Dialling
  private var wasEnough = false

  /// A handle is thrown away after a request larger than this, for it keeps a copy.
  private static let keptBodyBytes = 64 * 1024
  /// Whether the handle may serve again.
  private(set) var isReusable = true

  /// - Returns: Nil when libcurl has no memory for it.
  init?(configuration: TransportConfiguration) {
    guard let handle = curl_easy_init() else { return nil }
    self.handle = handle
    self.configuration = configuration
    dialling = Dialling(policy: configuration.egress)
    message = .allocate(capacity: Int(CURL_ERROR_SIZE))
    message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    guard setConstants() else { return nil }
  }

  deinit {
    curl_easy_cleanup(handle)
    curl_slist_free_all(fields)
    message.deallocate()
  }

  /// What is the same for every request.
  private func setConstants() -> Bool {
    // Sound: libcurl calls back only while a transfer runs, which the owner of the handle drives, and so holds `self`.
    let me = Unmanaged.passUnretained(self).toOpaque()
    let codes = [
      // Signals would reach any thread; names are resolved on a thread of their own.
      redial_curl_set_long(handle, CURLOPT_NOSIGNAL, 1),
      redial_curl_set_text(handle, CURLOPT_PROTOCOLS_STR, "http,https"),
      redial_curl_set_long(handle, CURLOPT_FOLLOWLOCATION, 0),
      // An empty name: the environment's proxies are not for us.
      redial_curl_set_text(handle, CURLOPT_PROXY, ""),
      // Whether any byte of a request left has been measured for this version only.
      redial_curl_set_long(handle, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)),
      redial_curl_set_long(handle, CURLOPT_HTTP09_ALLOWED, 0),
      redial_curl_set_long(handle, CURLOPT_PATH_AS_IS, 1),
      redial_curl_set_long(handle, CURLOPT_TCP_KEEPALIVE, 1),
      redial_curl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(configuration.connectTimeout)),
      redial_curl_set_long(
        handle, CURLOPT_MAXAGE_CONN, max(1, Self.milliseconds(configuration.maxConnectionAge) / 1000)),
      redial_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, message),
      redial_curl_set_sink(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, transfer in
        Transfer.take(transfer)?.receiveHead(bytes, size * count) ?? 0
      },
      redial_curl_set_pointer(handle, CURLOPT_HEADERDATA, me),
      redial_curl_set_sink(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, transfer in
        Transfer.take(transfer)?.receiveBody(bytes, size * count) ?? 0
      },
      redial_curl_set_pointer(handle, CURLOPT_WRITEDATA, me),
      redial_curl_set_gate(handle) { transfer, _, _, _, _ in
        Transfer.take(transfer)?.maySend() == true ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
      },
      redial_curl_set_pointer(handle, CURLOPT_PREREQDATA, me),
      redial_curl_set_dialer(handle) { transfer, _, destination in
        guard let transfer = Transfer.take(transfer), let destination else { return CURL_SOCKET_BAD }
        return transfer.dialling.open(destination)
      },
      redial_curl_set_pointer(handle, CURLOPT_OPENSOCKETDATA, me),
    ]
    return codes.allSatisfy { $0 == CURLE_OK }
  }

  private static func take(_ pointer: UnsafeMutableRawPointer?) -> Transfer? {
    pointer.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
  }

  static func milliseconds(_ duration: Duration) -> Int {
    Int(clamping: max(1, min(duration, .seconds(1_000_000)).wholeMicroseconds / 1000))
  }
}

// MARK: Before

extension Transfer {
  /// Prepares a request.
  ///
  /// - Returns: The code of what could not be set; `CURLE_OK` when it may begin.
  func prepare(_ request: TransportRequest) -> CURLcode {
    id = request.id
    captureLimit = request.captureLimit
    head.removeAll(keepingCapacity: true)
    (headBytes, bodyLength, sends) = (0, 0, 0)
    body = []
    (hasOversizedHead, wasEnough) = (false, false)
    message.pointee = 0
    dialling.begin(request.url)
    isReusable = request.body.count <= Self.keptBodyBytes
    guard setFields(request.headers) else { return CURLE_OUT_OF_MEMORY }
    var code = redial_curl_set_text(handle, CURLOPT_URL, request.url)
    if code == CURLE_OK { code = setMethod(request.method, request.body) }
    if code == CURLE_OK { code = redial_curl_set_headers(handle, fields) }
    if code == CURLE_OK {
      code = redial_curl_set_long(handle, CURLOPT_TIMEOUT_MS, Self.milliseconds(request.timeout))
    }
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
      code = redial_curl_set_offset(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(content.count))
      if code == CURLE_OK {
        code = content.withUnsafeBytes { bytes in
          // Never null, which would have libcurl ask for the content elsewhere.
          withUnsafePointer(to: 0 as UInt8) { none in
            redial_curl_set_pointer(handle, CURLOPT_COPYPOSTFIELDS, bytes.baseAddress ?? UnsafeRawPointer(none))
          }
        }
      }
      if code == CURLE_OK { code = redial_curl_set_long(handle, CURLOPT_POST, 1) }
      return code == CURLE_OK && method != "POST"
        ? redial_curl_set_text(handle, CURLOPT_CUSTOMREQUEST, method) : code
    }
    return method == "GET" ? CURLE_OK : redial_curl_set_text(handle, CURLOPT_CUSTOMREQUEST, method)
  }

  /// Gives libcurl the header fields, and takes out those that it would add on its own account.
  private func setFields(_ headers: [HeaderField]) -> Bool {
    curl_slist_free_all(fields)
    fields = nil
    var own: Set<String> = ["accept:", "content-type:", "expect:"]
    var hasAgent = false
    for header in headers {
      switch header.name.utf8.count {
      case 6, 12: own.remove(header.name.lowercased() + ":")
      case 10 where header.name.lowercased() == "user-agent": hasAgent = true
      default: break
      }
      // In libcurl's list, a field without a value ends in a semicolon.
      guard append(header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)") else { return false }
    }
    if !hasAgent, !append("User-Agent: \(configuration.userAgent)") { return false }
    return own.allSatisfy { append($0) }
  }

  private func append(_ line: String) -> Bool {
    guard let longer = curl_slist_append(fields, line) else { return false }
    fields = longer
    return true
  }
}

// MARK: During

extension Transfer {
  /// Whether the request may be sent: once. On a kept connection that dies before it answers, libcurl would send it
  /// again on a fresh one, whatever its method; but whether that is safe is for the policy to say.
  private func maySend() -> Bool {
    sends += 1
    return sends == 1
  }

  private func receiveHead(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
    guard let bytes, count > 0 else { return count }
    let line = UnsafeRawBufferPointer(start: bytes, count: count)
    headBytes += count
    guard headBytes <= configuration.maxResponseHeaderBytes else {
      hasOversizedHead = true
      return 0
    }
    // A status line begins the header anew, as after 100 Continue; trailers are not part of it.
    if line.starts(with: "HTTP/".utf8) {
      head.removeAll(keepingCapacity: true)
    } else if count > 2, bodyLength == 0 {
      head.append(contentsOf: line)
    }
    return count
  }

  private func receiveBody(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
    guard let bytes, count > 0 else { return count }
    let room = captureLimit - body.count
    if room > 0 {
      body.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: min(room, count)))
    }
    bodyLength += count
    guard bodyLength <= max(configuration.maxResponseBytes, captureLimit) else {
      wasEnough = true
      return 0
    }
    return count
  }
}

// MARK: After

extension Transfer {
  /// What came of the request, now that libcurl is done with it.
  func result(_ code: CURLcode) -> TransportResult {
    let end = TransferEnd(
      code: code, requestSize: redial_curl_get_long(handle, CURLINFO_REQUEST_SIZE),
      systemError: Int32(clamping: redial_curl_get_long(handle, CURLINFO_OS_ERRNO)), wasRepeated: sends > 1,
      wasEnough: wasEnough, hasOversizedHead: hasOversizedHead,
      refusal: dialling.allowed == 0 ? dialling.refusal : nil, detail: code == CURLE_OK ? "" : detail(code))
    let duration = Duration.microseconds(redial_curl_get_offset(handle, CURLINFO_TOTAL_TIME_T))
    guard end.outcome == .answered else {
      return TransportResult(id: id, outcome: end.outcome, error: end.error, duration: duration)
    }
    return TransportResult(
      id: id, outcome: .answered, status: redial_curl_get_long(handle, CURLINFO_RESPONSE_CODE),
      head: HeaderBlock(bytes: head), body: body, truncated: bodyLength > body.count, duration: duration)
  }

  /// What came of a request that was aborted from here.
  func cancelled() -> TransportResult {
    .cancelled(id, after: .microseconds(redial_curl_get_offset(handle, CURLINFO_TOTAL_TIME_T)))
  }

  private func detail(_ code: CURLcode) -> String {
    let said = String(cString: message)
    let text = said.isEmpty ? String(cString: curl_easy_strerror(code)) : said
    return text.hasSuffix(".") ? String(text.dropLast()) : text
  }
}

extension TransportResult {
  /// The attempt was aborted from here.
  static func cancelled(_ id: UInt64, after duration: Duration = .zero) -> TransportResult {
    TransportResult(
      id: id, outcome: .cancelled,
      error: TransportError(code: "cancelled", message: "The attempt was aborted."), duration: duration)
  }

  /// The attempt could not begin.
  static func outOfMemory(_ id: UInt64) -> TransportResult {
    let end = TransferEnd(code: CURLE_OUT_OF_MEMORY, requestSize: 0)
    return TransportResult(id: id, outcome: end.outcome, error: end.error, duration: .zero)
  }
}

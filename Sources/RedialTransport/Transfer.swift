internal import CCurl
internal import RedialCore
internal import RedialModel

/// A libcurl easy handle, and the data that its callbacks collect for the current transfer. It serves one request
/// after another.
///
/// Not `Sendable`: it belongs to the thread that drives its transfer.
final class Transfer {
  let handle: UnsafeMutableRawPointer
  let configuration: TransportConfiguration
  /// Libcurl writes its message about a failure here.
  let message: UnsafeMutablePointer<CChar>
  /// The request as it was given. A redirect changes what is sent, but not this.
  var request: TransportRequest
  var dialling: Dialling
  let fields = FieldList()
  /// The parsed URL, which libcurl copies for each request instead of parsing it again.
  private(set) var parsedURL: OpaquePointer?
  /// The `User-Agent` line of requests that have none of their own; it ends in a zero.
  let userAgentLine: UnsafeMutablePointer<CChar>
  /// The options that libcurl has from an earlier request and that need not be set again.
  var last = SetOptions()
  /// A body that is passed on at once, in memory that is used again.
  var small = UnsafeMutableRawBufferPointer.allocate(byteCount: 1024, alignment: 1)
  /// Is informed when sockets are opened and closed; nil if nobody waits for them.
  let events: SocketEvents?
  /// Decides when libcurl goes through its cached addresses; nil for a transfer on its own.
  let pruning: AddressPruning?
  /// How much of the body had been sent at the last check.
  var uploaded = 0
  /// Whether libcurl has the transfer.
  var isInFlight = false
  /// The part of the body that libcurl fetches piece by piece, and how much of it has been fetched.
  var upload = Upload()
  var received = Received()
  /// Takes the body of a 200 in pieces, and says whether to continue; nil to collect the body.
  var onPiece: ((UnsafeRawBufferPointer) -> Bool)?
  /// How many times the request was about to be sent.
  var sends = 0
  /// The number of redirects that were followed, and the time until the last of them, in microseconds.
  var redirects = 0
  var earlier = 0
  /// Whether a request of this attempt got a response, even if only a redirect.
  var hasBeenAnswered: Bool { redirects > 0 }
  /// Distinguishes the uses of this handle.
  var generation: UInt64 = 0
  var isInflating = false
  /// The TLS settings of the target that the handle last called.
  var identity: TargetTLS?
  /// The last remote address, and its zero-terminated text.
  var lastAddress: (text: [CChar], address: IPAddress)?
  /// Whether the request used a connection that had served before.
  var isReused = false
  /// How the address of the request's name is found.
  var naming = Naming()
  /// How much time the request had when it was prepared.
  var timeLimit = Duration.zero

  struct SetOptions {
    var url = ""
    var method = ""
    var hasContent = false
    var timeout = -1
    var connectTimeout = -1
    var addressTime = 0
  }

  /// A body that libcurl gets as it needs it, so that it makes no copy.
  struct Upload {
    var content: [UInt8] = []
    var sent = 0
    /// The source of the body, in place of `content`.
    var feed: BodyFeed?
    /// Whether libcurl asks for it piece by piece, so that a response may arrive before it is sent.
    var isPiecewise: Bool { feed != nil || !content.isEmpty }
  }

  /// The received part of the response.
  struct Received {
    var head: [UInt8] = []
    var headBytes = 0
    var isHeadWhole = false
    /// The place in ``head`` of the length of the content.
    var length: Range<Int>?
    var isContradictory = false
    var body: [UInt8] = []
    var bodyLength = 0
    var hasOversizedHead = false
    var wasEnough = false
    /// Whether libcurl decompresses the response if it is compressed, and whether the header says that it is.
    var mayInflate = false
    var wasInflated = false
  }

  var id: UInt64 { request.id }

  /// - Returns: Nil if libcurl is out of memory.
  init?(
    configuration: TransportConfiguration, events: SocketEvents? = nil, pruning: AddressPruning? = nil
  ) {
    guard let handle = curl_easy_init() else { return nil }
    self.handle = handle
    self.configuration = configuration
    self.events = events
    self.pruning = pruning
    userAgentLine = Self.text("User-Agent: \(configuration.userAgent)")
    dialling = Dialling(policy: configuration.egress, isProxied: configuration.proxy != nil)
    request = TransportRequest(id: 0, url: "", method: "GET", timeout: .zero, captureLimit: 0)
    message = .allocate(capacity: Int(CURL_ERROR_SIZE))
    message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    guard setConstants() else { return nil }
  }

  deinit {
    curl_easy_cleanup(handle)
    curl_slist_free_all(naming.addresses)
    curl_url_cleanup(parsedURL)
    small.deallocate()
    userAgentLine.deallocate()
    message.deallocate()
  }

  /// Sets the URL of the next requests, and makes libcurl parse it once for all of them.
  func setURL(_ text: String) -> CURLcode {
    // A new one each time: to one that already has a URL, another text may be a relative reference.
    let parsed = curl_url()
    defer {
      curl_url_cleanup(parsedURL)
      parsedURL = parsed
    }
    let isRead = parsed != nil && curl_url_set(parsed, CURLUPART_URL, text, Self.urlReading) == CURLUE_OK
    // If it cannot be parsed, libcurl parses the text itself and reports why it cannot.
    let code = redial_curl_set_pointer(handle, CURLOPT_CURLU, isRead ? parsed.map { UnsafeRawPointer($0) } : nil)
    return code == CURLE_OK ? redial_curl_set_text(handle, CURLOPT_URL, text) : code
  }

  /// Like libcurl's parsing of a URL that is given as text, with `CURLOPT_PATH_AS_IS`.
  private static let urlReading = UInt32(CURLU_GUESS_SCHEME | CURLU_NON_SUPPORT_SCHEME | CURLU_PATH_AS_IS)

  static func take(_ pointer: UnsafeMutableRawPointer?) -> Transfer? {
    pointer.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Runs something on a transfer within a callback, without retaining it again; nil for none.
  static func with<Result>(_ pointer: UnsafeMutableRawPointer?, _ body: (Transfer) -> Result) -> Result? {
    // Sound: the thread that drives the transfer retains it meanwhile.
    pointer.map { Unmanaged<Transfer>.fromOpaque($0)._withUnsafeGuaranteedRef(body) }
  }

  /// A zero-terminated copy of a text.
  private static func text(_ text: String) -> UnsafeMutablePointer<CChar> {
    let bytes = text.utf8CString
    let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
    bytes.withUnsafeBufferPointer { bytes in
      if let base = bytes.baseAddress { copy.initialize(from: base, count: bytes.count) }
    }
    return copy
  }

  static func milliseconds(_ duration: Duration) -> Int {
    Int(clamping: max(1, min(duration, .seconds(1_000_000)).wholeMicroseconds / 1000))
  }

  static func seconds(_ duration: Duration) -> Int { max(1, milliseconds(duration) / 1000) }
}

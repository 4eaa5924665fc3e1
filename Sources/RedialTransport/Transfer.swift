internal import CCurl
internal import RedialCore
internal import RedialModel

/// A libcurl easy handle, and what its callbacks gather of the transfer at hand. It serves one request after another.
///
/// Not `Sendable`: it belongs to the thread that drives its transfer.
final class Transfer {
  let handle: UnsafeMutableRawPointer
  let configuration: TransportConfiguration
  /// Libcurl writes what it has to say about a failure here.
  let message: UnsafeMutablePointer<CChar>
  /// The request as it was given; a redirect changes what is sent, and leaves this as it is.
  var request: TransportRequest
  var dialling: Dialling
  let fields = FieldList()
  /// The URL taken apart, which libcurl copies for each request in the place of parsing it.
  private(set) var parsedURL: OpaquePointer?
  /// The `User-Agent` line of requests that have none of their own; it ends in a zero.
  let userAgentLine: UnsafeMutablePointer<CChar>
  /// The options that libcurl has from an earlier request and that need not be set again.
  var last = Told()
  /// A body that is passed on at once, in memory that is used again.
  var small = UnsafeMutableRawBufferPointer.allocate(byteCount: 1024, alignment: 1)
  /// Is informed when sockets are opened and closed; nil if nobody waits for them.
  let events: SocketEvents?
  /// Says when libcurl is to look through the addresses that it remembers; nil for a transfer by itself.
  let pruning: AddressPruning?
  /// How much of the content had left when it was last looked at.
  var uploaded = 0
  /// Whether the transfer is libcurl's.
  var isUnderWay = false
  /// What of the request's content libcurl fetches piece by piece, and how much of it has been fetched.
  var upload = Upload()
  var received = Received()
  /// Takes the body of a 200 in pieces, as it comes, and says whether to go on; nil for a body that is gathered.
  var onPiece: ((UnsafeRawBufferPointer) -> Bool)?
  /// How often the request was about to be sent.
  var sends = 0
  /// Redirects that were followed, and how long everything took up to the last of them, in microseconds.
  var redirects = 0
  var earlier = 0
  /// Whether a request of this attempt was answered, if only by a redirect.
  var hasBeenAnswered: Bool { redirects > 0 }
  /// Tells the handle's uses apart.
  var generation: UInt64 = 0
  var isInflating = false
  /// What is set of TLS for the target that the handle called last.
  var identity: TargetTLS?
  /// The last address at the other end, and its text with the zero at its end.
  var lastAddress: (text: [CChar], address: IPAddress)?
  /// Whether the request went out on a connection that had served before.
  var isReused = false
  /// How the address of the request's name is found.
  var naming = Naming()
  /// How much time the request had when it was prepared.
  var timeLimit = Duration.zero

  struct Told {
    var url = ""
    var method = ""
    var hasContent = false
    var timeout = -1
    var connectTimeout = -1
    var addressTime = 0
  }

  /// Content that libcurl is given as it needs it, so that it makes no copy.
  struct Upload {
    var content: [UInt8] = []
    var sent = 0
    /// Where it comes from in the place of `content`.
    var feed: BodyFeed?
    /// Whether libcurl asks for it piece by piece, so that an answer may come before it has left.
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
    /// Whether libcurl takes the content out of a coding, if there is one, and whether the header tells of one.
    var mayInflate = false
    var wasInflated = false
  }

  var id: UInt64 { request.id }

  /// - Returns: Nil when libcurl has no memory for it.
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

  /// Tells libcurl the URL of the requests to come, and has it take the URL apart once for all of them.
  func setURL(_ text: String) -> CURLcode {
    // A new one each time: to one that has a URL, another may be a reference that is relative to it.
    let parsed = curl_url()
    defer {
      curl_url_cleanup(parsedURL)
      parsedURL = parsed
    }
    let isRead = parsed != nil && curl_url_set(parsed, CURLUPART_URL, text, Self.urlReading) == CURLUE_OK
    // What cannot be read libcurl reads itself from the text, and says why it cannot.
    let code = redial_curl_set_pointer(handle, CURLOPT_CURLU, isRead ? parsed.map { UnsafeRawPointer($0) } : nil)
    return code == CURLE_OK ? redial_curl_set_text(handle, CURLOPT_URL, text) : code
  }

  /// As libcurl reads a URL that is given as text, with `CURLOPT_PATH_AS_IS`.
  private static let urlReading = UInt32(CURLU_GUESS_SCHEME | CURLU_NON_SUPPORT_SCHEME | CURLU_PATH_AS_IS)

  static func take(_ pointer: UnsafeMutableRawPointer?) -> Transfer? {
    pointer.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Has a transfer do something within a callback, without counting one more reference to it; nil for none.
  static func with<Result>(_ pointer: UnsafeMutableRawPointer?, _ body: (Transfer) -> Result) -> Result? {
    // Sound: whoever drives the transfer holds it meanwhile.
    pointer.map { Unmanaged<Transfer>.fromOpaque($0)._withUnsafeGuaranteedRef(body) }
  }

  /// A copy of a text with a zero at its end.
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

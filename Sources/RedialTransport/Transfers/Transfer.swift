internal import CCurl
internal import RedialCore
internal import RedialModel

/// A libcurl easy handle, and what it has of the current transfer. It serves one request after another.
///
/// Not `Sendable`: it belongs to the thread that drives its transfer. The accesses that the run time does not check are of
/// that thread, and none lasts while libcurl runs, which could call back.
final class Transfer {
  @exclusivity(unchecked) private(set) var handle: UnsafeMutableRawPointer
  /// Whether the handle has served a request.
  @exclusivity(unchecked) private var isUsed = false
  let configuration: TransportConfiguration
  /// Is informed when sockets are opened and closed; nil if nobody waits for them.
  let events: SocketEvents?
  /// Decides when libcurl goes through its cached addresses; nil for a transfer on its own.
  let pruning: AddressPruning?
  /// What earlier requests have taught; nil for a transfer on its own.
  let memory: OriginMemory?
  let message = ErrorMessage()
  @exclusivity(unchecked) var options: HandleOptions
  let lines: HeaderLines
  /// The request as it was given. A redirect changes what is sent, but not this.
  @exclusivity(unchecked) var request: TransportRequest
  @exclusivity(unchecked) var dialling: Dialling
  /// How the address of the request's name is found.
  @exclusivity(unchecked) var naming = Naming()
  @exclusivity(unchecked) var crowding = Crowding()
  @exclusivity(unchecked) var suspension = Suspension()
  /// When libcurl last got the current request.
  @exclusivity(unchecked) var begun = ContinuousClock.now
  /// The time that the current request gets beside its own, for delays on this side.
  @exclusivity(unchecked) var more = Duration.zero
  @exclusivity(unchecked) var upload = Upload()
  @exclusivity(unchecked) var received: Received
  @exclusivity(unchecked) var exchange = Exchange()
  @exclusivity(unchecked) var course = Course()
  @exclusivity(unchecked) var remote = RemoteAddress()
  /// Whether libcurl has the transfer.
  @exclusivity(unchecked) var isInFlight = false

  /// Those that may share the connection of its request.
  @exclusivity(unchecked) var group = 0

  var id: UInt64 { request.id }
  var generation: UInt64 { course.generation }

  /// - Parameter sink: Takes the body of a 200 in pieces, and says whether to continue; nil to collect the body.
  /// - Returns: Nil if libcurl is out of memory.
  init?(
    configuration: TransportConfiguration, events: SocketEvents? = nil, pruning: AddressPruning? = nil,
    memory: OriginMemory? = nil, sink: ((UnsafeRawBufferPointer) -> Bool)? = nil
  ) {
    guard let handle = curl_easy_init() else { return nil }
    self.handle = handle
    self.configuration = configuration
    self.events = events
    (self.pruning, self.memory) = (pruning, memory)
    received = Received(sink: sink)
    options = HandleOptions(handle: handle)
    lines = HeaderLines(userAgent: configuration.userAgent)
    dialling = Dialling(policy: configuration.egress, isProxied: configuration.proxy != nil)
    request = TransportRequest(id: 0, url: "", method: "GET", timeout: .zero, captureLimit: 0)
    guard setConstants() else { return nil }
  }

  // First of all: the memory that libcurl has from the other properties is freed after this.
  deinit { curl_easy_cleanup(handle) }

  /// Gives the next request a handle that has served no other, if this libcurl needs it. The transfer is not in flight.
  ///
  /// - Returns: False if libcurl is out of memory.
  func renewHandle() -> Bool {
    guard isUsed, LibCurl.needsFreshHandles else {
      isUsed = true
      return true
    }
    guard let fresh = curl_easy_init() else { return false }
    // First of all, as in `deinit`.
    curl_easy_cleanup(handle)
    handle = fresh
    options = HandleOptions(handle: fresh)
    return setConstants()
  }

  static func take(_ pointer: UnsafeMutableRawPointer?) -> Transfer? {
    pointer.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Runs something on a transfer within a callback, without retaining it again; nil for none.
  static func with<Result>(_ pointer: UnsafeMutableRawPointer?, _ body: (Transfer) -> Result) -> Result? {
    // Sound: the thread that drives the transfer retains it meanwhile.
    pointer.map { Unmanaged<Transfer>.fromOpaque($0)._withUnsafeGuaranteedRef(body) }
  }

  static func milliseconds(_ duration: Duration) -> Int {
    Int(clamping: max(1, min(duration, .seconds(1_000_000)).wholeMicroseconds / 1000))
  }

  static func seconds(_ duration: Duration) -> Int { max(1, milliseconds(duration) / 1000) }
}

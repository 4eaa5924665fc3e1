/// What an exchange took and how it was made: times from its start, bytes, and the connection.
public struct ExchangeFigures: Sendable, Hashable {
  /// How far an exchange came.
  public enum Phase: UInt8, Sendable, Hashable, CaseIterable {
    /// It had not begun.
    case setup = 0
    /// The name was being resolved.
    case resolve = 1
    /// A connection was being made.
    case connect = 2
    /// A TLS session was being made.
    case tls = 3
    /// The request was on its way, or its answer was waited for.
    case request = 4
    /// The response was coming in.
    case response = 5

    /// The word of the wire.
    public var name: StaticString {
      switch self {
      case .setup: "setup"
      case .resolve: "resolve"
      case .connect: "connect"
      case .tls: "tls"
      case .request: "request"
      case .response: "response"
      }
    }
  }

  /// The version of HTTP that was spoken.
  public enum Version: UInt8, Sendable, Hashable, CaseIterable {
    /// HTTP/1.0.
    case http10 = 1
    /// HTTP/1.1.
    case http11 = 2
    /// HTTP/2.
    case http2 = 3

    /// The word of the wire.
    public var name: StaticString {
      switch self {
      case .http10: "1.0"
      case .http11: "1.1"
      case .http2: "2"
      }
    }
  }

  /// How far it came.
  public var phase: Phase

  /// Whether something of a request may have left: this one, or one before it that was answered by a redirect.
  public var mayHaveLeft: Bool { phase.rawValue >= Phase.request.rawValue || redirects > 0 }

  /// When the name was resolved, in microseconds from the start; 0 when it was not, or on a kept connection.
  public var resolved: Int = 0
  /// When the connection stood, likewise.
  public var connected: Int = 0
  /// When the TLS session stood, likewise; 0 without TLS.
  public var secured: Int = 0
  /// When the first byte of the response came, likewise.
  public var firstByte: Int = 0
  /// Bytes of requests that were sent.
  public var bytesSent: Int = 0
  /// Bytes of responses that came in, header and body, before they were inflated.
  public var bytesReceived: Int = 0
  /// Redirects that were followed.
  public var redirects: Int = 0
  /// The address at the other end of the connection; nil when there was none.
  public var remoteAddress: IPAddress?
  /// The port at the other end.
  public var remotePort: Int = 0
  /// The version that was spoken; nil when there was no response.
  public var version: Version?
  /// Whether the connection had served before.
  public var isReused = false

  /// Creates figures of an exchange that came that far.
  public init(phase: Phase) {
    self.phase = phase
  }
}

// MARK: As bytes

extension ExchangeFigures {
  /// The form that they are stored in: about 20 bytes.
  public var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(48)
    let isV4 = remoteAddress?.v4 != nil
    let flags: UInt8 = (isReused ? 1 : 0) | (remoteAddress == nil ? 0 : isV4 ? 2 : 4)
    bytes += [Self.format, phase.rawValue | (version?.rawValue ?? 0) << 4, flags]
    for number in [resolved, connected, secured, firstByte, bytesSent, bytesReceived, redirects, remotePort] {
      var rest = UInt64(clamping: number)
      while rest > 0x7F {
        bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
        rest >>= 7
      }
      bytes.append(UInt8(rest))
    }
    if let remoteAddress {
      withUnsafeBytes(of: (remoteAddress.high.bigEndian, remoteAddress.low.bigEndian)) { whole in
        bytes += isV4 ? whole.suffix(4) : whole.suffix(16)
      }
    }
    return bytes
  }

  private static let format: UInt8 = 1

  /// Reads what ``encoded`` has written.
  ///
  /// - Returns: Nil for anything else, as of a later version.
  public init?(encoded bytes: [UInt8]) {
    guard bytes.count >= 11, bytes[0] == Self.format, let phase = Phase(rawValue: bytes[1] & 0x0F) else { return nil }
    self.init(phase: phase)
    version = Version(rawValue: bytes[1] >> 4)
    isReused = bytes[2] & 1 != 0
    var rest = bytes[3...]
    var numbers: [Int] = []
    for _ in 0..<8 {
      var value: UInt64 = 0
      var shift: UInt64 = 0
      while true {
        guard let byte = rest.popFirst(), shift < 63 else { return nil }
        value |= UInt64(byte & 0x7F) << shift
        shift += 7
        if byte & 0x80 == 0 { break }
      }
      numbers.append(Int(clamping: value))
    }
    (resolved, connected, secured, firstByte) = (numbers[0], numbers[1], numbers[2], numbers[3])
    (bytesSent, bytesReceived, redirects, remotePort) = (numbers[4], numbers[5], numbers[6], numbers[7])
    switch (bytes[2] & 6, rest.count) {
    case (0, 0): break
    case (2, 4): remoteAddress = IPAddress(v4: rest.reduce(0) { $0 << 8 | UInt32($1) })
    case (4, 16):
      remoteAddress = IPAddress(
        high: rest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }, low: rest.suffix(8).reduce(0) { $0 << 8 | UInt64($1) })
    default: return nil
    }
  }
}

// MARK: As people see them

extension ExchangeFigures {
  /// Writes them as one object.
  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("phase")
    writer.string(phase.name)
    func time(_ name: StaticString, _ microseconds: Int) {
      if microseconds > 0 { writer.field(name, Duration.microseconds(microseconds)) }
    }
    time("resolved", resolved)
    time("connected", connected)
    time("secured", secured)
    time("firstByte", firstByte)
    writer.field("bytesSent", bytesSent)
    writer.field("bytesReceived", bytesReceived)
    if redirects > 0 { writer.field("redirects", redirects) }
    if let remoteAddress {
      let text = remoteAddress.description
      writer.field("remoteAddress", text.contains(":") ? "[\(text)]:\(remotePort)" : "\(text):\(remotePort)")
    }
    if let version {
      writer.key("httpVersion")
      writer.string(version.name)
    }
    writer.field("connectionReused", isReused)
    writer.endObject()
  }
}

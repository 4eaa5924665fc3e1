public import RedialJSON

/// The times of an exchange from its start, its bytes, and its connection.
public struct ExchangeFigures: Sendable, Hashable {
  /// How far an exchange came.
  public enum Phase: UInt8, Sendable, Hashable, CaseIterable {
    /// It had not begun.
    case setup = 0
    /// The name was being resolved.
    case resolve = 1
    /// A connection was being opened.
    case connect = 2
    /// A TLS session was being opened.
    case tls = 3
    /// The request was being sent, or the response had not begun.
    case request = 4
    /// The response was arriving.
    case response = 5

    /// The word in the API.
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

  /// The version of HTTP.
  public enum Version: UInt8, Sendable, Hashable, CaseIterable {
    case http10 = 1
    case http11 = 2
    case http2 = 3

    /// The word in the API.
    public var name: StaticString {
      switch self {
      case .http10: "1.0"
      case .http11: "1.1"
      case .http2: "2"
      }
    }
  }

  /// How far the exchange came.
  public var phase: Phase

  /// Whether a part of a request may have been sent: of this one, or of one before it that was redirected.
  public var mayHaveLeft: Bool { phase.rawValue >= Phase.request.rawValue || redirects > 0 }

  /// When the name was resolved, in microseconds from the start; 0 if it was not, or on a reused connection.
  public var resolved: Int = 0
  /// When the connection was open, likewise.
  public var connected: Int = 0
  /// When the TLS session was open, likewise; 0 without TLS.
  public var secured: Int = 0
  /// When the first byte of the response arrived, likewise.
  public var firstByte: Int = 0
  /// Bytes of requests that were sent.
  public var bytesSent: Int = 0
  /// Bytes of responses that were received, header and body, before they were inflated.
  public var bytesReceived: Int = 0
  /// Redirects that were followed.
  public var redirects: Int = 0
  /// The remote address of the connection; nil if there was none.
  public var remoteAddress: IPAddress?
  public var remotePort: Int = 0
  /// The version of the response; nil if there was none.
  public var version: Version?
  /// Whether the connection was reused.
  public var isReused = false

  /// Creates the figures of an exchange.
  public init(phase: Phase) {
    self.phase = phase
  }
}

// MARK: As bytes

extension ExchangeFigures {
  /// The form in the store: about 20 bytes.
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

  /// Reads the form of ``encoded``.
  ///
  /// - Returns: Nil for anything else, such as the form of a later version.
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
    if redirects > 0 { writer.field("redirectCount", redirects) }
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

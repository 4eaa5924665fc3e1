internal import RedialJSON

/// A version of TLS.
public enum TLSVersion: String, Sendable, Hashable, CaseIterable {
  /// TLS 1.2 (RFC 5246).
  case tls12 = "1.2"
  /// TLS 1.3 (RFC 8446).
  case tls13 = "1.3"
}

/// How a target proves its identity and how Redial proves its own, at the origins of the settings. Certificates and
/// keys are files that are read when a connection is made; their content is neither stored nor shown.
public struct TargetTLS: Sendable, Hashable {
  /// The path of Redial's certificate for the target, in PEM, followed by those of its issuers.
  public var certificate: String?
  /// The path of the certificate's private key, in PEM, without a pass phrase; nil if it is in the certificate's file.
  public var key: String?
  /// The path of a file of certificates, in PEM, which are the only trusted issuers for the target.
  public var caFile: String?
  /// SHA-256 digests of public keys, in base 64. The target must have one of these keys; empty for any key.
  public var pins: [String]
  /// The minimum version of TLS for the target.
  public var minVersion: TLSVersion?

  /// The origins to which all of it applies, each in the form of ``TargetURL/origin``; if empty, see ``origins(of:)``.
  public var origins: [String]

  enum Member: String, CaseIterable { case certificate, key, caFile, pins, minVersion, origins }

  /// The longest path of a file, in bytes.
  static let longestPath = 4096
  /// The maximum number of pins of a target.
  public static let mostPins = 16
  /// The maximum number of listed origins of a target.
  public static let mostOrigins = 64

  /// Creates settings; omitted arguments have the general default.
  public init(
    certificate: String? = nil, key: String? = nil, caFile: String? = nil, pins: [String] = [],
    minVersion: TLSVersion? = nil, origins: [String] = []
  ) {
    self.certificate = certificate
    self.key = key
    self.caFile = caFile
    self.pins = pins
    self.minVersion = minVersion
    self.origins = origins
  }

  /// Whether it sets nothing for any origin.
  public var setsNothing: Bool {
    certificate == nil && key == nil && caFile == nil && pins.isEmpty && minVersion == nil
  }

  /// The origins to which it applies as settings of a target: those that it lists; if it lists none, the target's own,
  /// if its key is an origin or the target for callbacks to one.
  public func origins(of key: TargetKey) -> [String] {
    guard origins.isEmpty else { return origins }
    var name = key.bare
    if name.hasPrefix(WebhookSubscription.targetPrefix) {
      name.removeFirst(WebhookSubscription.targetPrefix.count)
    }
    return (try? TargetURL(name).origin) == name ? [name] : []
  }

  /// Reads the object at `/tls` over earlier settings, recording its faults; nil if it is not one.
  init?(_ reader: inout DescriptorReader, over earlier: TargetTLS) throws(JSONError) {
    self = earlier
    guard try reader.expect(.object, "/tls", "must be an object") else { return nil }
    try reader.json.beginObject()
    var members = Members(of: Member.self)
    while let member = try reader.nextMember(&members, as: Member.self, of: "tls", at: "/tls") {
      switch member {
      case .certificate: certificate = try Self.path("/tls/certificate", &reader)
      case .key: key = try Self.path("/tls/key", &reader)
      case .caFile: caFile = try Self.path("/tls/caFile", &reader)
      case .pins: try readPins(&reader)
      case .origins: origins = try reader.origins("/tls/origins")
      case .minVersion:
        let text = try reader.string("/tls/minVersion")
        minVersion = text.flatMap { TLSVersion(rawValue: $0) }
        if text != nil, minVersion == nil { reader.fault("/tls/minVersion", "must be \"1.2\" or \"1.3\"") }
      }
    }
    if key != nil, certificate == nil, !reader.nullRemoves { reader.fault("/tls/key", "needs a certificate") }
  }

  private static func path(_ pointer: String, _ reader: inout DescriptorReader) throws(JSONError) -> String? {
    guard let text = try reader.string(pointer) else { return nil }
    guard text.hasPrefix("/"), text.utf8.count <= longestPath, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      reader.fault(pointer, "must be the absolute path of a file on Redial's machine")
      return nil
    }
    return text
  }

  private mutating func readPins(_ reader: inout DescriptorReader) throws(JSONError) {
    pins = []
    guard try reader.expect(.array, "/tls/pins", "must be an array of digests") else { return }
    try reader.json.beginArray()
    var position = 0
    while try reader.json.nextElement() {
      let pointer = "/tls/pins/\(position)"
      position += 1
      guard let text = try reader.element(pointer) else { continue }
      if Base64.decode(text)?.count == 32 {
        pins.append(text)
      } else {
        reader.fault(pointer, "must be the SHA-256 digest of a public key, in base 64")
      }
    }
    if position > Self.mostPins { reader.fault("/tls/pins", "has more than \(Self.mostPins) digests") }
  }

  /// The origin of a URL without a path; nil for any other text.
  fileprivate static func origin(_ text: String) -> String? {
    guard let origin = try? TargetURL(text).origin else { return nil }
    let rest = text.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).last ?? ""
    let authority = rest.hasSuffix("/") ? rest.dropLast() : rest
    return authority.contains { $0 == "/" || $0 == "?" || $0 == "#" } ? nil : origin
  }

  /// Writes the settings as one object.
  func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let certificate { writer.field("certificate", certificate) }
    if let key { writer.field("key", key) }
    if let caFile { writer.field("caFile", caFile) }
    if !pins.isEmpty {
      writer.key("pins")
      writer.beginArray()
      for pin in pins { writer.string(pin) }
      writer.endArray()
    }
    if let minVersion { writer.field("minVersion", minVersion.rawValue) }
    if !origins.isEmpty {
      writer.key("origins")
      writer.beginArray()
      for origin in origins { writer.string(origin) }
      writer.endArray()
    }
    writer.endObject()
  }
}

extension DescriptorReader {
  /// Reads an array of distinct origins, at most ``TargetTLS/mostOrigins``.
  mutating func origins(_ pointer: String) throws(JSONError) -> [String] {
    var origins: [String] = []
    guard try expect(.array, pointer, "must be an array of origins") else { return origins }
    try json.beginArray()
    var position = 0
    while position < TargetTLS.mostOrigins, try json.nextElement() {
      let place = "\(pointer)/\(position)"
      position += 1
      guard let text = try element(place) else { continue }
      if let origin = TargetTLS.origin(text) {
        if !origins.contains(origin) { origins.append(origin) }
      } else {
        fault(place, "must be an origin such as https://api.example.com")
      }
    }
    if position == TargetTLS.mostOrigins, try skipElements() > 0 {
      fault(pointer, "has more than \(TargetTLS.mostOrigins) origins")
    }
    return origins
  }
}

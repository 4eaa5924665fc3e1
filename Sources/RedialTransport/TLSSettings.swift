/// How servers prove who they are, and how this client does. Verification is always on.
public struct TLSSettings: Sendable, Hashable {
  /// The oldest version of TLS that is spoken.
  public enum Version: String, Sendable, Hashable, CaseIterable {
    /// TLS 1.2 (RFC 5246).
    case tls12 = "1.2"
    /// TLS 1.3 (RFC 8446).
    case tls13 = "1.3"
  }

  /// The oldest version that is spoken. Default 1.2.
  public var minimumVersion = Version.tls12
  /// The path of a file of certificates, in PEM, whose issuers are trusted; nil for the system's.
  public var trustedIssuers: String?
  /// What holds besides for single targets, by the URL's origin.
  public var targets: [String: Target] = [:]

  /// What holds for one target besides.
  public struct Target: Sendable, Hashable {
    /// The path of this client's certificate, in PEM, with those of its issuers behind it.
    public var certificate: String?
    /// The path of the certificate's private key, in PEM, without a pass phrase.
    public var key: String?
    /// The SHA-256 digests, in base 64, of the public keys of which the server must have one; empty for any.
    public var pins: [String]
    /// The path of a file of trusted issuers for this target alone.
    public var trustedIssuers: String?

    /// Creates what holds for a target.
    public init(
      certificate: String? = nil, key: String? = nil, pins: [String] = [], trustedIssuers: String? = nil
    ) {
      self.certificate = certificate
      self.key = key
      self.pins = pins
      self.trustedIssuers = trustedIssuers
    }
  }

  /// The defaults.
  public init() {}
}

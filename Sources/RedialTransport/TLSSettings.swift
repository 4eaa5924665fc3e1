public import RedialModel

/// How servers prove who they are. Verification is always on; what holds for single targets comes with their requests.
public struct TLSSettings: Sendable, Hashable {
  /// The oldest version that is spoken. Default 1.2.
  public var minimumVersion = TLSVersion.tls12
  /// The path of a file of certificates, in PEM, whose issuers are trusted, and no others; nil for the system's.
  public var trustedIssuers: String?

  /// The defaults.
  public init() {}
}

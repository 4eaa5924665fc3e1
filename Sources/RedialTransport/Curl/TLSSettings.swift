package import RedialModel

/// How servers prove their identity. Verification is always on; settings of single targets are part of their requests.
package struct TLSSettings: Sendable, Hashable {
  /// The minimum version of TLS. Default 1.2.
  package var minimumVersion = TLSVersion.tls12
  /// The path of a file of certificates, in PEM, which are the only trusted issuers; nil for the system's.
  package var trustedIssuers: String?

  /// The defaults.
  package init() {}
}

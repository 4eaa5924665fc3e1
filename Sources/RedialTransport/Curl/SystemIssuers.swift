import CCurl
import Glibc

/// Where the issuers of certificates are that this system trusts.
struct SystemIssuers: Sendable {
  /// Certificates in PEM; nil if there is no such file.
  var file: String?
  /// A folder of certificates by hash; nil if libcurl knows none.
  var folder: String?

  /// Those of Debian and Alpine, Fedora, SUSE, and OpenSSL itself.
  private static let usualFiles = [
    "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
  ]

  /// What libcurl was built with. A libcurl for all systems has nothing: then `SSL_CERT_FILE`, or the first usual file that can
  /// be read.
  static let found: SystemIssuers = {
    guard let handle = curl_easy_init() else { return SystemIssuers() }
    defer { curl_easy_cleanup(handle) }
    func text(_ info: CURLINFO) -> String? { redial_curl_get_text(handle, info).map { String(cString: $0) } }
    let builtIn = SystemIssuers(file: text(CURLINFO_CAINFO), folder: text(CURLINFO_CAPATH))
    guard builtIn.file == nil, builtIn.folder == nil else { return builtIn }
    if let named = getenv("SSL_CERT_FILE") { return SystemIssuers(file: String(cString: named)) }
    return SystemIssuers(file: usualFiles.first { access($0, R_OK) == 0 })
  }()
}

internal import CCurl
internal import RedialModel

/// How the two ends of a connection prove their identity.
extension Transfer {
  /// Applies the settings of the current request.
  func setTLS(for hop: Hop) -> CURLcode {
    // Mostly nothing has to be set or reset.
    if request.tls == nil, identity == nil { return CURLE_OK }
    let wanted = request.tls?.settings(for: hop.url, isRedirected: hop.hasChangedOrigin)
    return wanted == identity ? CURLE_OK : setTLS(wanted)
  }

  /// Applies the settings of one target, or the general ones, in place of the earlier ones.
  func setTLS(_ target: TargetTLS?) -> CURLcode {
    let issuers = target?.caFile ?? configuration.tls.trustedIssuers
    let pins = (target?.pins ?? []).map { "sha256//\($0)" }.joined(separator: ";")
    for (option, text) in [
      (CURLOPT_SSLCERT, target?.certificate), (CURLOPT_SSLKEY, target?.key),
      (CURLOPT_PINNEDPUBLICKEY, pins.isEmpty ? nil : pins),
      // Settings with issuers trust no others, so the system's folder of issuers is removed too.
      (CURLOPT_CAINFO, issuers ?? Self.systemIssuers.file),
      (CURLOPT_CAPATH, issuers == nil ? Self.systemIssuers.folder : nil),
    ] {
      let code = redial_curl_set_text(handle, option, text)
      guard code == CURLE_OK else { return code }
    }
    // CURL_SSLVERSION_TLSv1_2 and _3, which are values of an unnamed enumeration in C.
    let version = (target?.minVersion ?? configuration.tls.minimumVersion) == .tls13 ? 7 : 6
    let code = redial_curl_set_long(handle, CURLOPT_SSLVERSION, version)
    if code == CURLE_OK { identity = target }
    return code
  }

  /// The library's default location.
  private static let systemIssuers: (file: String?, folder: String?) = {
    guard let handle = curl_easy_init() else { return (nil, nil) }
    defer { curl_easy_cleanup(handle) }
    func text(_ info: CURLINFO) -> String? { redial_curl_get_text(handle, info).map { String(cString: $0) } }
    return (text(CURLINFO_CAINFO), text(CURLINFO_CAPATH))
  }()
}

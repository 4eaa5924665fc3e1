internal import HTTPServer
internal import RedialModel

extension PageGuard {
  /// Why a request is refused; nil if it is served.
  ///
  /// - Parameter forwarded: The address that the client of a trusted proxy used.
  func refusal(
    of request: borrowing HTTPRequest, from forwarded: ForwardedAddress?, to exposure: Exposure, asksForKey: Bool
  ) -> Problem? {
    // An http URL has a host, so a request for a path has one in Host (RFC 9112, section 3.2).
    if exposure != .open, !hosts.allowsAll, request.authority?.isEmpty == true { return Self.hostEmpty }
    var evidence = Evidence(forwarded: forwarded)
    evidence.site = request.header("sec-fetch-site")
    evidence.origin = request.header("origin")
    evidence.isFromSharedOrigin = origins.allows(evidence.origin)
    if !asksForKey || evidence.origin != nil { evidence.authority = request.authority ?? "" }
    if exposure != .own {
      evidence.isReading = request.method == .get || request.method == .head
      evidence.isNavigation =
        evidence.isReading && request.header("sec-fetch-mode", is: "navigate")
        && request.header("sec-fetch-dest", is: "document")
    }
    if exposure == .acting { evidence.hasDeliberateField = Self.hasDeliberateField(request) }
    return refusal(
      of: evidence, to: exposure, asksForKey: asksForKey, isRemote: { !request.cameByUnixSocket })
  }

  /// Whether a request has a field that a page cannot set. A browser under parental control sends `Prefer: safe` by
  /// itself (RFC 8674).
  private static func hasDeliberateField(_ request: borrowing HTTPRequest) -> Bool {
    var isFound = false
    request.forEachHeader { name, value in
      let name = String(decoding: name, as: UTF8.self).lowercased()
      if name.hasPrefix("redial-") || name == "idempotency-key" { isFound = true }
      if name == "prefer", String(decoding: value, as: UTF8.self).lowercased() != "safe" { isFound = true }
    }
    return isFound
  }
}

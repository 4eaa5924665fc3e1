internal import RedialModel

/// Prevents web pages of other origins from using the service through the browser of a person who can reach it.
///
/// Browsers say in `Sec-Fetch-Site` (W3C Fetch Metadata) and `Origin` (RFC 6454) where a request comes from, and no
/// page can change these fields. Other clients send neither, and are not affected. `Sec-Fetch-Site` is sent only to
/// trustworthy origins (https, loopback), and old browsers do not send it at all, so neither field is enough by itself.
struct PageGuard: Sendable {
  /// The names by which clients may address the service if no API key is required.
  var hosts = AllowedHosts()
  /// The origins whose pages may use the API with a key.
  var origins = CORSOrigins()

  /// The parts of a request that show which page may have made it.
  struct Evidence: Sendable, Hashable {
    /// The host and port of the request; empty for none.
    var authority = ""
    /// The address that the client of a trusted proxy used; nil without one.
    var forwarded: ForwardedAddress?
    /// `Sec-Fetch-Site`.
    var site: String?
    /// `Origin`.
    var origin: String?
    /// Whether that origin is one whose pages may use the API with a key.
    var isFromSharedOrigin = false
    /// Whether it loads a page into its own window with a method that changes nothing: not into a frame, and not as a
    /// part of another page.
    var isNavigation = false
    /// Whether it has a field that a page can send to another origin only after asking (Fetch, "CORS-safelisted").
    var hasDeliberateField = false
    /// Whether browsers send this method without an `Origin`.
    var isReading = false
  }

  /// The meaning of a route for a page.
  enum Exposure: Sendable, Hashable {
    /// Open to everybody: it says only whether the service is alive.
    case open
    /// A static document, to which any page may link.
    case document
    /// For the service's own pages.
    case own
    /// Like `own`, but even a request that only reads has effects.
    case acting
  }

  /// Why a request is refused; nil if it is served.
  ///
  /// - Parameters:
  ///   - asksForKey: Whether an API key is required. No page has one, so the host does not matter then.
  ///   - isRemote: Whether the request came by TCP, like a browser's. Checked only if it makes a difference, and not
  ///     for a request of a trusted proxy, whose client may be a browser.
  func refusal(
    of evidence: Evidence, to exposure: Exposure, asksForKey: Bool, isRemote: () -> Bool
  ) -> Problem? {
    if exposure == .open { return nil }
    if evidence.site != nil || evidence.origin != nil {
      let isLink = exposure == .document && evidence.isNavigation
      // Such a page has only the key that it sends; without keys every page would have all permissions.
      let isShared = asksForKey && evidence.isFromSharedOrigin
      if !isShared, !Self.isOwn(evidence), !isLink || evidence.origin != nil { return Self.crossSite(evidence) }
    }
    guard !asksForKey else { return nil }
    func isExposed() -> Bool { evidence.forwarded != nil || isRemote() }
    // Both: a proxy that passes Host on may also pass on a page's X-Forwarded-Host.
    if let host = evidence.forwarded?.host, !hosts.allows(host) { return Self.hostNotAllowed("X-Forwarded-Host", host) }
    if !hosts.allows(evidence.authority), isExposed() { return Self.hostNotAllowed("Host", evidence.authority) }
    if Self.isUndeliberate(evidence, exposure), isExposed() { return Self.undeliberate }
    return nil
  }

  /// Whether a page could make a browser send it, and it has effects.
  private static func isUndeliberate(_ evidence: Evidence, _ exposure: Exposure) -> Bool {
    exposure == .acting && evidence.isReading && !evidence.hasDeliberateField
  }

  /// Whether a browser's request comes from one of the service's own pages, or from none.
  private static func isOwn(_ evidence: Evidence) -> Bool {
    switch evidence.site {
    // The browser has compared the origins itself, and behind a proxy only it knows the public one.
    case "same-origin": return true
    case nil, "none": break
    default: return false
    }
    guard let origin = evidence.origin else { return true }
    // A browser leaves out the scheme's default port in both.
    let authority = evidence.forwarded?.host ?? evidence.authority
    for scheme in ["http://", "https://"] where origin.hasPrefix(scheme) {
      return !authority.isEmpty && origin.dropFirst(scheme.count).lowercased() == authority.lowercased()
    }
    return false
  }

  private static func crossSite(_ evidence: Evidence) -> Problem {
    let page =
      evidence.origin.map { "the web page of another origin, \(PlainText.escaped($0)), made it" }
      ?? "another site's web page made it (Sec-Fetch-Site)"
    return Problem(
      .crossSiteRequest,
      detail:
        "The browser that sent the request says that \(page). Pages of other origins may not use the service, unless "
        + "the setting corsOrigins names their origin and there are API keys.",
      errors: [.init(header: evidence.origin == nil ? "Sec-Fetch-Site" : "Origin", detail: "is of another origin")])
  }

  /// - Parameter field: The field with the host.
  static func hostNotAllowed(_ field: String, _ host: String) -> Problem {
    Problem(
      .hostNotAllowed,
      detail: "The field \(field) has the name \(PlainText.escaped(host)), to which the service does not answer. "
        + "Without an API key it answers only to an address, to localhost, and to the names in the setting allowedHosts. "
        + "Add the host name there (--allowed-hosts NAME or REDIAL_ALLOWED_HOSTS=NAME), or make an API key.",
      errors: [.init(header: field, detail: "is not among allowedHosts")])
  }

  static let hostEmpty = Problem(
    .hostEmpty,
    detail: "The field Host is empty. It names the host and port of the service, as in the URL that is requested. "
      + "If clients cannot send it, set allowedHosts to *.", errors: [.init(header: "Host", detail: "is empty")])

  static let undeliberate = Problem(
    .forwardNotDeliberate,
    detail: "Without an API key, a GET or HEAD to be forwarded needs a field that no page can send: Prefer (such as "
      + "Prefer: respond-async), Idempotency-Key, or one that begins with Redial-.")
}

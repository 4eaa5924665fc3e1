internal import RedialModel

/// Keeps web pages of other origins from using the service through the browser of somebody who can reach it.
///
/// Browsers say in `Sec-Fetch-Site` (W3C Fetch Metadata) and `Origin` (RFC 6454) where a request comes from, and no page can
/// change these fields. Other clients send neither, and are not concerned. `Sec-Fetch-Site` is sent to trustworthy origins
/// alone (https, loopback), and old browsers do not send it at all, so neither field is enough by itself.
struct PageGuard: Sendable {
  /// The names by which the service may be addressed where no API key is asked for.
  var hosts = AllowedHosts()
  /// The origins whose pages may use the API with a key.
  var origins = CORSOrigins()

  /// What a request says about the page that may have made it.
  struct Evidence: Sendable, Hashable {
    /// The host and port that it is for; empty for none.
    var authority = ""
    /// How the client of a trusted proxy addressed that; nil without one.
    var forwarded: ForwardedAddress?
    /// `Sec-Fetch-Site`.
    var site: String?
    /// `Origin`.
    var origin: String?
    /// Whether that origin is one whose pages may use the API with a key.
    var isFromSharedOrigin = false
    /// Whether it loads a page into a window of its own, with a method that changes nothing: not into a frame, and not as
    /// a part of another page.
    var isNavigation = false
    /// Whether it has a field that no page can send to another origin without asking first (Fetch, "CORS-safelisted").
    var hasDeliberateField = false
    /// Whether the method is one that browsers send without an `Origin`.
    var isReading = false
  }

  /// What a route is to a page.
  enum Exposure: Sendable, Hashable {
    /// Anybody may ask: it says whether the service lives, and nothing else.
    case open
    /// A static document, to which any page may link.
    case document
    /// It is for the service's own pages.
    case own
    /// As `own`, and a request that only reads has effects.
    case acting
  }

  /// Why a request is not served; nil when it is.
  ///
  /// - Parameters:
  ///   - asksForKey: Whether an API key is asked for. No page has one, so the host does not matter then.
  ///   - isRemote: Whether the request came by TCP, as a browser's does. Asked only when it makes a difference, and not of
  ///     one that a trusted proxy has forwarded, whose client may be a browser.
  func refusal(
    of evidence: Evidence, to exposure: Exposure, asksForKey: Bool, isRemote: () -> Bool
  ) -> Problem? {
    if exposure == .open { return nil }
    if evidence.site != nil || evidence.origin != nil {
      let isLink = exposure == .document && evidence.isNavigation
      // Its page has no more than the key that it sends; without keys everybody's page would have everything.
      let isShared = asksForKey && evidence.isFromSharedOrigin
      if !isShared, !Self.isOwn(evidence), !isLink || evidence.origin != nil { return Self.crossSite }
    }
    guard !asksForKey else { return nil }
    func isExposed() -> Bool { evidence.forwarded != nil || isRemote() }
    // Both: a proxy that passes Host on may pass on what a page says in X-Forwarded-Host, too.
    if let host = evidence.forwarded?.host, !hosts.allows(host) { return Self.hostNotAllowed("X-Forwarded-Host") }
    if !hosts.allows(evidence.authority), isExposed() { return Self.hostNotAllowed("Host") }
    if exposure == .acting, evidence.isReading, !evidence.hasDeliberateField, isExposed() { return Self.undeliberate }
    return nil
  }

  /// Whether a browser's request comes from one of the service's own pages, or from nobody's.
  private static func isOwn(_ evidence: Evidence) -> Bool {
    switch evidence.site {
    // The browser has compared the origins itself, and behind a proxy it alone knows the public one.
    case "same-origin": return true
    case nil, "none": break
    default: return false
    }
    guard let origin = evidence.origin else { return true }
    // A browser leaves the scheme's own port out of both.
    let authority = evidence.forwarded?.host ?? evidence.authority
    for scheme in ["http://", "https://"] where origin.hasPrefix(scheme) {
      return !authority.isEmpty && origin.dropFirst(scheme.count).lowercased() == authority.lowercased()
    }
    return false
  }

  static let crossSite = Problem(
    status: 403, code: "crossSiteRequest", title: "The request comes from a page of another origin",
    detail:
      "The fields Sec-Fetch-Site and Origin say that another site's web page made the request. Pages of "
      + "other origins may not use the service, unless the setting corsOrigins names their origin and there are API keys."
  )

  /// - Parameter field: The one that names the host.
  static func hostNotAllowed(_ field: String) -> Problem {
    Problem(
      status: 421, code: "hostNotAllowed", title: "The service does not answer to this host name",
      detail:
        "Without an API key it answers only to an address, to localhost, and to the names in the setting allowedHosts. "
        + "Add the host name there (--allowed-hosts NAME or REDIAL_ALLOWED_HOSTS=NAME), or make an API key.",
      errors: [.init(pointer: field, detail: "is not among allowedHosts")])
  }

  static let undeliberate = Problem(
    status: 403, code: "forwardNotDeliberate", title: "A web page could have made this request",
    detail: "Without an API key, a GET or HEAD to be forwarded needs a field that no page can send: Prefer (such as "
      + "Prefer: respond-async), Idempotency-Key, or one that begins with Redial-.")
}

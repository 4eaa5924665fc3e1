internal import RedialModel

/// One request of an attempt: the first, or what a redirect makes of it.
struct Hop {
  var url: String
  var method: String
  var headers: [HeaderField]
  var body: [UInt8]
  /// Where the content comes from in the place of ``body``.
  var source: (any BodySource)?
  /// Whether a redirect has led to another origin on the way here, so that a server has chosen where this goes.
  var hasChangedOrigin = false

  /// What follows from a redirect (RFC 9110 §15.4).
  ///
  /// - Parameter location: The absolute URL that it leads to.
  /// - Returns: Nil when it is none that is followed: another status, or a URL that no call could have.
  func redirected(_ status: Int, to location: String) -> Hop? {
    guard [301, 302, 303, 307, 308].contains(status), let next = try? TargetURL(location) else { return nil }
    var hop = self
    hop.url = location
    let becomesGet = status == 303 ? method != "HEAD" && method != "GET" : status < 303 && method == "POST"
    if becomesGet {
      hop.method = "GET"
      hop.body = []
      hop.source = nil
      hop.headers.removeAll { $0.name.lowercased().hasPrefix("content-") || $0.name.lowercased() == "digest" }
    }
    let origin = try? TargetURL(url).origin
    if origin != next.origin {
      hop.headers.removeAll { Self.isPersonal($0.name) }
      hop.hasChangedOrigin = true
    }
    return hop
  }

  /// Whether a field is for the origin that its sender had in mind alone.
  private static func isPersonal(_ name: String) -> Bool {
    let name = name.lowercased()
    return ["authorization", "cookie", "proxy-authorization", "host", "origin", "referer", "www-authenticate"]
      .contains(name)
      || ["token", "secret", "api-key", "apikey", "signature", "password"].contains { name.contains($0) }
  }
}

import RedialText

internal import RedialModel

/// One request of an attempt: the first, or one after a redirect.
struct Hop {
  var url: String
  var method: String
  var headers: [HeaderField]
  var body: [UInt8]
  /// The source of the body, in place of ``body``.
  var source: (any BodySource)?
  /// Whether an earlier redirect led to another origin, so that a server has chosen the destination.
  var hasChangedOrigin = false

  /// The next request after a redirect (RFC 9110 §15.4).
  ///
  /// - Parameters:
  ///   - location: The absolute URL of the redirect.
  ///   - secrets: Names of header fields, in lower case, that are not sent to another origin.
  /// - Returns: Nil if the redirect is not followed: another status, or a URL that no call could have.
  func redirected(_ status: Int, to location: String, without secrets: [String]) -> Hop? {
    guard [301, 302, 303, 307, 308].contains(status), let next = try? TargetURL(location),
      TargetURL.nameFault(inOrigin: next.origin) == nil
    else { return nil }
    var hop = self
    hop.url = location
    let hasContent = !body.isEmpty || source != nil
    let becomesGet =
      status == 303 ? method != "HEAD" && (method != "GET" || hasContent) : status < 303 && method == "POST"
    if becomesGet {
      hop.method = "GET"
      hop.body = []
      hop.source = nil
      hop.headers.removeAll { Self.isAboutContent($0.name.lowercased()) }
    }
    let origin = try? TargetURL(url).origin
    if origin != next.origin {
      hop.headers.removeAll { Self.isPersonal($0.name) || secrets.contains($0.name.lowercased()) }
      hop.hasChangedOrigin = true
    }
    return hop
  }

  /// Whether a field is about the content of the request, or a signature over it, and so goes with it (RFC 9110 §15.4).
  ///
  /// - Parameter name: In lower case.
  private static func isAboutContent(_ name: String) -> Bool {
    // These are about the response.
    if name.hasPrefix("accept-") || name.hasPrefix("want-") { return false }
    return name.hasPrefix("content-") || name == "last-modified"
      || ["digest", "signature", "checksum", "content-sha256"].contains { name.contains($0) }
  }

  /// Whether a field is only for the original origin: it identifies the sender, or a word of its name means a
  /// credential.
  static func isPersonal(_ name: String) -> Bool {
    let lower = name.lowercased()
    if lower == "idempotency-key" { return false }
    return ["host", "origin", "referer", "www-authenticate"].contains(lower)
      || secretParts.contains { lower.contains($0) } || words(of: name).contains { secretWords.contains($0) }
  }

  /// Parts of a name that mean a credential anywhere in it.
  private static let secretParts = [
    "token", "secret", "apikey", "signature", "password", "passwd", "passphrase", "credential", "cookie", "authoriz",
    "authentic",
  ]
  /// Words that mean a credential only as a whole word.
  private static let secretWords: Set<String> = [
    "key", "auth", "pwd", "pass", "sig", "jwt", "session", "sessionid", "sid", "assertion", "bearer", "csrf", "xsrf",
  ]

  /// The words of a name, in lower case: separated by signs and digits, and by a capital after a small letter.
  private static func words(of name: String) -> [String] {
    var words: [String] = [""]
    var wasSmall = false
    for byte in name.utf8 {
      let isCapital = (0x41...0x5A).contains(byte)
      let isLetter = isCapital || (0x61...0x7A).contains(byte)
      if !isLetter || isCapital && wasSmall { words.append("") }
      if isLetter { words[words.count - 1].unicodeScalars.append(Unicode.Scalar(isCapital ? byte + 0x20 : byte)) }
      wasSmall = isLetter && !isCapital
    }
    return words
  }
}

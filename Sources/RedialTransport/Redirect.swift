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
  /// - Parameters:
  ///   - location: The absolute URL that it leads to.
  ///   - secrets: Names of header fields, in lower case, that do not go to another origin.
  /// - Returns: Nil when it is none that is followed: another status, or a URL that no call could have.
  func redirected(_ status: Int, to location: String, without secrets: [String]) -> Hop? {
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
      hop.headers.removeAll { Self.isPersonal($0.name) || secrets.contains($0.name.lowercased()) }
      hop.hasChangedOrigin = true
    }
    return hop
  }

  /// Whether a field is for the origin that its sender had in mind alone: it says who asks, or where from, or a word of its name
  /// is one for a credential.
  static func isPersonal(_ name: String) -> Bool {
    let lower = name.lowercased()
    if lower == "idempotency-key" { return false }
    return ["host", "origin", "referer", "www-authenticate"].contains(lower)
      || secretParts.contains { lower.contains($0) } || words(of: name).contains { secretWords.contains($0) }
  }

  /// What makes a name that of a credential wherever it stands in it.
  private static let secretParts = [
    "token", "secret", "apikey", "signature", "password", "passwd", "passphrase", "credential", "cookie", "authoriz",
    "authentic",
  ]
  /// What does so as a word of its own.
  private static let secretWords: Set<String> = [
    "key", "auth", "pwd", "pass", "sig", "jwt", "session", "sessionid", "sid", "assertion", "bearer", "csrf", "xsrf",
  ]

  /// The words of a name, in lower case: parted by signs and digits, and by a capital behind a small letter.
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

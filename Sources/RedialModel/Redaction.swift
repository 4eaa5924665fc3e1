internal import RedialText

/// Hides secrets from people, in the API, in webhooks and in the log: the values of some header fields, and of URL
/// parameters whose names look like secrets.
///
/// Data that attempts need is stored unchanged; everything else is stored redacted.
public struct Redaction: Sendable, Hashable {
  /// The header fields whose values are not kept, in lower case.
  public var headers: [String]
  /// The URL parameters whose values are not shown, in lower case.
  public var parameters: [String]

  /// The text that replaces a value: OpenTelemetry's word, which is allowed in a URL.
  public static let marker = "REDACTED"

  /// Creates a redaction of these names, whatever their case.
  public init(headers: [String] = Self.usualHeaders, parameters: [String] = Self.usualParameters) {
    self.headers = headers.map { $0.lowercased() }
    self.parameters = parameters.map { $0.lowercased() }
  }

  /// Fields that are credentials wherever they occur.
  public static let usualHeaders = ["authorization", "proxy-authorization", "cookie", "set-cookie"]

  /// Parameters that are nearly always credentials. A name that ends in one of them as a separate word, such as
  /// `access_token`, `X-Amz-Signature` or `apiKey`, is one too.
  public static let usualParameters = [
    "token", "key", "apikey", "secret", "password", "passwd", "pwd", "passphrase", "signature", "sig", "auth",
    "authorization", "credential", "credentials", "jwt", "session", "sessionid",
  ]

  /// A URL for people: without the values of secret parameters in its query and fragment.
  ///
  /// - Complexity: O(*n*) in the length of the URL; a URL without a query is returned unchanged.
  public func url(_ text: String) -> String {
    let mayHaveParameters = ASCIIText.withBytes(of: text) { bytes in
      ASCIIText.anyMarked(bytes) {
        ASCIIText.marks(of: $0, equalTo: 0x3F) | ASCIIText.marks(of: $0, equalTo: 0x23)
      }
    }
    guard !parameters.isEmpty, mayHaveParameters else { return text }
    let bytes = Array(text.utf8)
    var shown: [UInt8] = []
    shown.reserveCapacity(bytes.count)
    var position = bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.endIndex
    shown += bytes[..<position]
    while position < bytes.endIndex {
      shown.append(bytes[position])
      let start = position + 1
      position = bytes[start...].firstIndex(where: Self.isSeparator) ?? bytes.endIndex
      let parameter = bytes[start..<position]
      if let equals = parameter.firstIndex(of: UInt8(ascii: "=")), equals + 1 < position, isSecret(parameter[..<equals])
      {
        shown += bytes[start...equals]
        shown += Self.marker.utf8
      } else {
        shown += parameter
      }
    }
    return shown.count == bytes.count && shown == bytes ? text : String(decoding: shown, as: UTF8.self)
  }

  /// An operator's URL for people: without user, password and query.
  ///
  /// A text that is not a URL may be a mistyped one, so its credentials are hidden too: everything before its last
  /// `@`, after `://` if there is one.
  public static func place(_ text: String) -> String {
    var rest = text[...]
    var shown: Substring = ""
    if let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") {
      rest = text[colon...].dropFirst(3)
      shown = text[..<colon] + "://"
    }
    if let at = rest.lastIndex(of: "@") {
      shown += marker
      rest = rest[at...]
    }
    guard let query = rest.firstIndex(where: { $0 == "?" || $0 == "#" }) else { return String(shown + rest) }
    return String(shown + rest[...query] + marker)
  }

  /// Whether a header field's value is hidden from people.
  ///
  /// - Parameter more: Further names, in lower case.
  public func hidesHeader(_ name: String, _ more: [String] = []) -> Bool {
    func isMeant(_ hidden: String) -> Bool {
      hidden.utf8.count == name.utf8.count && hidden.utf8.elementsEqual(name.utf8.lazy.map(Self.lowercased))
    }
    return headers.contains(where: isMeant) || more.contains(where: isMeant)
  }

  private static func isSeparator(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "&") || byte == UInt8(ascii: ";") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
  }

  /// Whether a name in a URL is that of a secret.
  private func isSecret(_ name: ArraySlice<UInt8>) -> Bool {
    let name = Self.decoded(name)
    return parameters.contains { Self.ends(name, in: $0) }
  }

  /// Whether a name is a word, or ends in it after a word boundary: a sign, or a capital after a small letter.
  private static func ends(_ name: [UInt8], in word: String) -> Bool {
    let start = name.count - word.utf8.count
    guard start >= 0, !word.isEmpty, word.utf8.elementsEqual(name[start...].lazy.map(lowercased)) else { return false }
    guard start > 0 else { return true }
    func isCapital(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) }
    func isAlphanumeric(_ byte: UInt8) -> Bool {
      (0x30...0x39).contains(byte) || (0x61...0x7A).contains(lowercased(byte)) || byte >= 0x80
    }
    // `user[password]` ended in a bracket, which was removed.
    return !isAlphanumeric(name[start - 1]) || isCapital(name[start]) && !isCapital(name[start - 1])
  }

  /// A name without its percent-encoding, and without a bracket at its end.
  private static func decoded(_ name: ArraySlice<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    var position = name.startIndex
    while position < name.endIndex {
      if name[position] == UInt8(ascii: "%"), position + 2 < name.endIndex,
        let byte = PercentCoding.byte(name[position + 1], name[position + 2])
      {
        bytes.append(byte)
        position += 3
      } else {
        bytes.append(name[position])
        position += 1
      }
    }
    while let last = bytes.last, last == UInt8(ascii: "]") || last == UInt8(ascii: "[") { bytes.removeLast() }
    return bytes
  }

  fileprivate static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
}

extension CapturedResponse {
  /// Removes the hidden values.
  ///
  /// - Parameter more: Further header fields to hide, in lower case.
  public mutating func redact(_ redaction: Redaction, and more: [String]) {
    head = head.redacted(by: redaction, and: more)
  }
}

extension HeaderBlock {
  /// Fields whose values are URLs.
  private static let locations = ["location", "content-location"]

  /// The block without the hidden values.
  ///
  /// - Parameters:
  ///   - redaction: The fields to hide.
  ///   - more: Further fields to hide, in lower case.
  /// - Complexity: O(*n*) in the size of the block.
  public func redacted(by redaction: Redaction, and more: [String] = []) -> HeaderBlock {
    guard mayName(redaction.headers, more, Self.locations) else { return self }
    var result: [UInt8]?
    var start = bytes.startIndex
    while start < bytes.endIndex {
      let newline = bytes[start...].firstIndex(of: UInt8(ascii: "\n"))
      let end = newline.map { $0 + 1 } ?? bytes.endIndex
      if let line = Self.redacted(line: bytes[start..<end], by: redaction, and: more) {
        // Most responses have nothing to hide, and are not copied.
        if result == nil { result = Array(bytes[..<start]) }
        result? += line
      } else {
        result? += bytes[start..<end]
      }
      start = end
    }
    return result.map { HeaderBlock(bytes: $0) } ?? self
  }

  /// Whether there may be a line of one of these fields, judged by the lengths and the first letters of names: in
  /// most blocks no line has to be examined more closely.
  private func mayName(_ names: [String]...) -> Bool {
    func bit(_ length: Int, _ first: UInt8) -> UInt64 { 1 << UInt64((length + 7 * Int(first | 0x20)) & 63) }
    var wanted: UInt64 = 0
    for names in names {
      for name in names { wanted |= bit(name.utf8.count, name.utf8.first ?? 0) }
    }
    return bytes.withUnsafeBufferPointer { bytes in
      var start = 0
      while start < bytes.count {
        var end = start
        while end < bytes.count, bytes[end] != UInt8(ascii: ":"), bytes[end] != UInt8(ascii: "\n") { end += 1 }
        if wanted & bit(end - start, bytes[start]) != 0 { return true }
        while end < bytes.count, bytes[end] != UInt8(ascii: "\n") { end += 1 }
        start = end + 1
      }
      return false
    }
  }

  /// The part of a line to keep; nil for all of it.
  private static func redacted(line: ArraySlice<UInt8>, by redaction: Redaction, and more: [String]) -> [UInt8]? {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    // Compared by length first, before any text is allocated.
    func isAmong(_ names: [String]) -> Bool {
      names.contains { name in
        name.utf8.count == colon - line.startIndex
          && name.utf8.elementsEqual(line[..<colon].lazy.map(Redaction.lowercased))
      }
    }
    var value: String
    if isAmong(redaction.headers) || isAmong(more) {
      value = Redaction.marker
    } else if isAmong(locations) {
      let url = String(decoding: line[(colon + 1)...].filter { $0 > 0x20 }, as: UTF8.self)
      value = redaction.url(url)
      if value == url { return nil }
    } else {
      return nil
    }
    value = ": \(value)\r\n"
    return Array(line[..<colon]) + Array(value.utf8)
  }
}

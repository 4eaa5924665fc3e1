internal import RedialModel
internal import RedialText

/// What a credential puts into a request, which is struck from what the answer says: whoever may read a call may not use its
/// credential.
///
/// An answer may have it as it was sent or in base 64, and in both with bytes that are percent-encoded, or escaped as in JSON or
/// HTML, also twice.
struct StruckSecrets {
  /// What is looked for, without escapes.
  private let forms: [[UInt8]]
  /// Those that begin with each byte, the longest first.
  private var beginning = [[[UInt8]]](repeating: [], count: 256)

  /// Shorter ones are in too many answers that do not mean them.
  private static let shortest = 4
  /// Of one that the end of an answer cuts, and of one in base 64 that begins before it, so many bytes are struck.
  private static let shortestPart = 8
  /// How often escapes are undone.
  private static let mostLevels = 3
  /// How many bytes of a text are compared for each byte of it, on average. In a text that was made to need more, everything
  /// is struck: it would keep the thread of all requests.
  private static let mostCompared = 16
  /// The longest escape of a byte, escaped once more.
  private static let longestEscape = 16

  init(_ secrets: [String]) {
    var forms: Set<[UInt8]> = []
    for secret in secrets {
      // Of one that has escapes itself, an answer may have what they mean.
      var level = UnescapedText(Array(secret.utf8))
      for _ in 0...2 {
        if level.bytes.count >= Self.shortest {
          forms.insert(level.bytes)
          for form in Self.coded(level.bytes) { forms.insert(form) }
        }
        guard let next = level.withoutEscapes else { break }
        level = next
      }
      let scalars = secret.unicodeScalars.map(\.value)
      if secret.utf8.count >= Self.shortest, scalars.contains(where: { $0 > 0x7F }), scalars.allSatisfy({ $0 <= 0xFF })
      {
        // In ISO 8859-1.
        forms.insert(scalars.map { UInt8($0) })
      }
    }
    self.forms = forms.sorted { $0.count > $1.count }
    for form in self.forms { beginning[Int(form[0])].append(form) }
  }

  /// What the proof of an attempt has of a credential.
  init(_ proof: AttemptProof) {
    guard let content = proof.credential else {
      self.init([])
      return
    }
    let value = content[.value]
    // A scheme may stand before the secret itself.
    let bare = value.split(separator: " ").last.map(String.init) ?? ""
    let pair = "\(content[.username]):\(content[.password])"
    self.init([
      content[.token], proof.token ?? "", content[.password], content[.password].isEmpty ? "" : pair, value,
      bare.utf8.count >= Self.shortestPart ? bare : "", content[.sessionToken],
    ])
  }

  /// What a client shows to a token endpoint.
  init(client content: CredentialContent) {
    let pair = "\(PercentCoding.encode(content[.clientID])):\(PercentCoding.encode(content[.clientSecret]))"
    self.init([content[.clientSecret], content[.clientSecret].isEmpty ? "" : pair])
  }

  /// Base 64 of bytes with others before and behind them: the letters that depend on them alone, wherever they begin.
  private static func coded(_ bytes: [UInt8]) -> [[UInt8]] {
    (0..<3).flatMap { offset -> [[UInt8]] in
      let first = (offset * 8 + 5) / 6
      let whole = (offset + bytes.count) * 8 / 6
      let all = Array(Base64.encode([UInt8](repeating: 0, count: offset) + bytes).utf8)
      // At the end of what is coded, the last letter has some of its bits.
      let letters = Array(all[first..<min(whole, all.count)])
      guard letters.count >= shortestPart || offset == 0 && letters.count >= shortest else { return [] }
      let forURLs = letters.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == UInt8(ascii: "/") ? 0x5F : $0 }
      return [letters, forURLs]
    }
  }

  /// How many bytes of a body are looked at beyond those that are kept: one that begins before the limit is seen as a whole. To
  /// strike its part would tell whoever sets the limit how it begins.
  var reach: Int { forms.first.map { $0.count * Self.longestEscape } ?? 0 }

  /// Replaces the secrets in the record of an attempt.
  ///
  /// - Parameter limit: How many bytes of the body are kept.
  func strike(_ result: inout AttemptResult, keeping limit: Int) {
    guard !forms.isEmpty else { return }
    if let response = result.response {
      if let head = struck(response.head.bytes) { result.response?.head = HeaderBlock(bytes: head) }
      if Self.isHidden(response, status: result.status ?? 0) {
        result.response?.body = Array(Redaction.marker.utf8)
        result.response?.truncated = true
      } else {
        if let body = struck(response.body, isCut: response.truncated, keeping: limit) { result.response?.body = body }
        if response.body.count > limit { result.response?.truncated = true }
      }
    }
    if let failure = result.failure { result.failure?.message = strike(failure.message) }
  }

  /// Whether nobody can see what a body says: it is in a coding, or a part that somebody has chosen.
  private static func isHidden(_ response: CapturedResponse, status: Int) -> Bool {
    var isCoded = response.body.starts(with: [0x1F, 0x8B])
    response.head.forEach { name, value in
      guard String(decoding: name, as: UTF8.self).lowercased() == "content-encoding" else { return }
      let coding = String(decoding: value, as: UTF8.self).lowercased().filter { $0 != " " && $0 != "\t" }
      if !["", "identity", "none"].contains(coding) { isCoded = true }
    }
    return !response.body.isEmpty && (isCoded || status == 206)
  }

  /// A text without it.
  func strike(_ text: String) -> String {
    struck(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) } ?? text
  }

  /// The bytes without it; nil if they stay as they are.
  private func struck(_ bytes: [UInt8], isCut: Bool = false, keeping limit: Int = .max) -> [UInt8]? {
    var ranges: [Range<Int>] = []
    var level = UnescapedText(bytes)
    for number in 0...Self.mostLevels {
      // An encoder may break lines.
      for text in [level, level.joined].compactMap({ $0 }) {
        guard let found = found(in: text.bytes, isCut: isCut) else { return Array(Redaction.marker.utf8) }
        ranges += found.map(text.source)
      }
      guard number < Self.mostLevels, let next = level.withoutEscapes else { break }
      level = next
    }
    guard !ranges.isEmpty || bytes.count > limit else { return nil }
    var merged: [Range<Int>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = merged.last, range.lowerBound <= last.upperBound {
        merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        merged.append(range)
      }
    }
    var (kept, copied) = ([] as [UInt8], 0)
    for range in merged where range.lowerBound < limit {
      kept += bytes[copied..<range.lowerBound]
      kept += Redaction.marker.utf8
      copied = range.upperBound
    }
    return copied < min(limit, bytes.count) ? kept + bytes[copied..<min(limit, bytes.count)] : kept
  }

  /// Where the forms are; nil if that takes too long to find.
  private func found(in bytes: [UInt8], isCut: Bool) -> [Range<Int>]? {
    var left = Self.mostCompared * (bytes.count + 4096)
    return bytes.withUnsafeBufferPointer { bytes in
      var ranges: [Range<Int>] = []
      for place in bytes.indices where !beginning[Int(bytes[place])].isEmpty {
        for form in beginning[Int(bytes[place])] {
          let count = min(form.count, bytes.count - place)
          guard count == form.count || isCut && count >= Self.shortestPart else { continue }
          var same = 0
          while same < count, bytes[place + same] == form[same] { same += 1 }
          left -= same + 1
          guard same == count else { continue }
          ranges.append(place..<place + count)
          break
        }
        guard left > 0 else { return nil }
      }
      return ranges
    }
  }
}

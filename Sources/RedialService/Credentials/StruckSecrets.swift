internal import RedialModel
internal import RedialText

/// What a credential puts into a request, which is struck from what the answer says: whoever may read a call may not use its
/// credential.
///
/// An answer may have it as it was sent or in base 64, and in both with bytes that are percent-encoded, or escaped as in JSON or
/// HTML.
struct StruckSecrets {
  /// The forms, the longest first, so that none leaves a part of another.
  private let forms: [[UInt8]]
  /// With which bytes one may begin.
  private var isStart = [Bool](repeating: false, count: 256)

  /// Shorter ones are in too many answers that do not mean them.
  private static let shortest = 4
  /// Of one that the end of what was captured cuts, at least so many bytes are struck.
  private static let shortestPart = 8

  init(_ secrets: [String]) {
    var forms: Set<[UInt8]> = []
    for secret in secrets where secret.utf8.count >= Self.shortest {
      let coded = Base64.encode(Array(secret.utf8)).filter { $0 != "=" }
      for form in [secret, coded, coded.replacing("+", with: "-").replacing("/", with: "_")] {
        forms.insert(Array(form.utf8))
      }
    }
    self.forms = forms.sorted { $0.count > $1.count }
    for form in forms { isStart[Int(form[0])] = true }
    for escape in Self.escapes { isStart[Int(escape)] = true }
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

  /// Replaces the secrets in the record of an attempt.
  func strike(_ result: inout AttemptResult) {
    guard !forms.isEmpty else { return }
    if let response = result.response {
      if let head = struck(response.head.bytes) { result.response?.head = HeaderBlock(bytes: head) }
      if let body = struck(response.body, isCut: response.truncated) { result.response?.body = body }
    }
    if let failure = result.failure { result.failure?.message = strike(failure.message) }
  }

  /// A text without it.
  func strike(_ text: String) -> String {
    struck(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) } ?? text
  }

  /// The bytes without it; nil if it is not in them.
  private func struck(_ bytes: [UInt8], isCut: Bool = false) -> [UInt8]? {
    bytes.withUnsafeBufferPointer { bytes in
      var (kept, copied, place) = ([] as [UInt8], 0, 0)
      while place < bytes.count {
        guard isStart[Int(bytes[place])],
          let end = forms.lazy.compactMap({ Self.end(of: $0, in: bytes, from: place, isCut: isCut) }).first
        else {
          place += 1
          continue
        }
        kept += bytes[copied..<place]
        kept += Redaction.marker.utf8
        (copied, place) = (end, end)
      }
      return copied == 0 ? nil : kept + bytes[copied...]
    }
  }

  /// Where a form ends that begins at a place; nil if it does not.
  private static func end(
    of form: [UInt8], in bytes: UnsafeBufferPointer<UInt8>, from start: Int, isCut: Bool
  ) -> Int? {
    var place = start
    for (matched, byte) in form.enumerated() {
      guard place < bytes.count else { return isCut && matched >= shortestPart ? place : nil }
      if bytes[place] == byte {
        place += 1
      } else if let (escaped, next) = escape(in: bytes, at: place) {
        guard escaped == byte else { return nil }
        place = next
      } else {
        let isBroken =
          isCut && matched >= shortestPart && bytes.count - place < longestEscape && mayEscape(bytes[place])
        return isBroken ? bytes.count : nil
      }
    }
    return place
  }

  private static let longestEscape = 6
  private static let escapes = [UInt8(ascii: "%"), UInt8(ascii: "\\"), UInt8(ascii: "&")]

  private static func mayEscape(_ byte: UInt8) -> Bool { escapes.contains(byte) }

  /// The byte that an escape at a place means, and where it ends; nil if there is none.
  private static func escape(in bytes: UnsafeBufferPointer<UInt8>, at place: Int) -> (byte: UInt8, end: Int)? {
    guard mayEscape(bytes[place]) else { return nil }
    func text(_ range: Range<Int>) -> String? {
      range.upperBound <= bytes.count ? String(decoding: bytes[range], as: UTF8.self) : nil
    }
    switch bytes[place] {
    case UInt8(ascii: "%"):
      return text(place + 1..<place + 3).flatMap { UInt8($0, radix: 16) }.map { ($0, place + 3) }
    case UInt8(ascii: "\\"):
      guard place + 1 < bytes.count else { return nil }
      guard bytes[place + 1] == UInt8(ascii: "u") else { return (bytes[place + 1], place + 2) }
      return text(place + 2..<place + 6).flatMap { UInt16($0, radix: 16) }.flatMap(UInt8.init(exactly:)).map {
        ($0, place + 6)
      }
    default:
      guard let end = bytes[place...].prefix(8).firstIndex(of: UInt8(ascii: ";")), let name = text(place + 1..<end)
      else {
        return nil
      }
      return entity(name).map { ($0, end + 1) }
    }
  }

  private static func entity(_ name: String) -> UInt8? {
    switch name {
    case "amp": return UInt8(ascii: "&")
    case "lt": return UInt8(ascii: "<")
    case "gt": return UInt8(ascii: ">")
    case "quot": return UInt8(ascii: "\"")
    case "apos": return UInt8(ascii: "'")
    default: break
    }
    if name.hasPrefix("#x") || name.hasPrefix("#X") { return UInt8(name.dropFirst(2), radix: 16) }
    return name.hasPrefix("#") ? UInt8(name.dropFirst()) : nil
  }
}

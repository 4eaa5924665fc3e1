import Foundation
import RedialCore
import RedialModel
import Testing

@testable import RedialService

@Suite("Secrets in answers")
struct StruckSecretsTests {
  private static let secret = "sk&live%51/H8+pä=s<x>w0rt"

  private static func struck(
    _ text: String, _ secrets: [String] = [secret], isCut: Bool = false, keeping limit: Int = .max, status: Int = 200,
    coding: String? = nil
  ) -> String {
    let head = coding.map { "Content-Encoding: \($0)\r\n" } ?? ""
    var result = AttemptResult(
      outcome: .answered, status: status,
      response: CapturedResponse(head: HeaderBlock(bytes: Array(head.utf8)), body: Array(text.utf8), truncated: isCut),
      duration: .zero)
    StruckSecrets(secrets).strike(&result, keeping: limit)
    return String(decoding: result.response?.body ?? [], as: UTF8.self)
  }

  private static func percent(_ text: String) -> String { text.utf8.map { String(format: "%%%02x", $0) }.joined() }

  @Test("it is struck in each form, and what stands around it stays")
  func forms() throws {
    let secret = Self.secret
    let json = try #require(String(data: JSONEncoder().encode([secret]), encoding: .utf8)?.dropFirst(2).dropLast(2))
    let html = secret.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&#x3E;")
    let ascii = secret.unicodeScalars.map { $0.isASCII ? String($0) : String(format: "\\u%04x", $0.value) }.joined()
    let query = secret.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    for text in [
      secret, String(json), html, ascii, secret.replacing("ä", with: "&#228;"), query,
      query.lowercased().isEmpty ? "" : Self.percent(secret),
      Self.percent(query), Self.percent(Self.percent(secret)),
      secret.replacing("%", with: "%25").replacing("+", with: "%2B"),
    ] { #expect(Self.struck("a \(text) b") == "a REDACTED b", "\(text)") }
    for prefix in ["", "x", "xy", "Bearer ", "user:"] {
      for suffix in ["", "z", "zz"] {
        let coded = Data("\(prefix)\(secret)\(suffix)".utf8).base64EncodedString()
        for text in [coded, coded.replacing("+", with: "-").replacing("/", with: "_"), Self.percent(coded)] {
          let shown = Self.struck("<\(text)>")
          #expect(shown.contains("REDACTED") && shown.count < text.count, "\(text): \(shown)")
        }
      }
    }
    // What it means itself, and what it does not mean.
    #expect(Self.struck("go to /a b/?x=1", ["/a%20b/?x=1"]) == "go to REDACTED")
    for text in ["sk&live%51/H8", "nothing", "%", "\\u12", "&;", "&amp", "\\", "a+b", ""] {
      #expect(Self.struck(text, keeping: 100) == text)
    }
  }

  @Test("it is struck in several lines, as encoders of base 64 and servers that fold fields make them")
  func lines() {
    let secret = String((0..<120).map { Character(Unicode.Scalar(UInt8(ascii: "A") + UInt8($0 * 7 % 26))) })
    for options: Data.Base64EncodingOptions in [.lineLength64Characters, .lineLength76Characters] {
      for end: Data.Base64EncodingOptions in [
        .endLineWithLineFeed, [.endLineWithLineFeed, .endLineWithCarriageReturn],
      ] {
        let coded = Data(secret.utf8).base64EncodedString(options: options.union(end))
        #expect(Self.struck("<\(coded)>", [secret]) == "<REDACTED>")
        let json = coded.replacing("\r", with: "\\r").replacing("\n", with: "\\n")
        #expect(Self.struck("{\"a\": \"\(json)\"}", [secret]) == "{\"a\": \"REDACTED\"}")
      }
    }
    #expect(Self.struck("x: \(secret.prefix(50))\r\n  \(secret.dropFirst(50)).", [secret]) == "x: REDACTED.")
    #expect(Self.struck("one\n two\n", [secret], keeping: 100) == "one\n two\n")
  }

  @Test("a text that was made to take long to look into is withheld, and no other", arguments: ["A", "AAAA"])
  func slow(letter: String) {
    let secret = String(repeating: letter, count: 200) + "Z"
    let text = String(repeating: "A", count: 100_000)
    #expect(Self.struck(text, [secret]) == "REDACTED")
    #expect(Self.struck(String(repeating: "Ab+&amp;", count: 10_000), [secret], keeping: 100_000).utf8.count == 80_000)
  }

  @Test("whoever sets the limit learns nothing of how it begins")
  func limit() {
    let secret = "Zq9kT4xW-0123456789"
    let text = "no such page: /Zq9kT4xW-guess, and Authorization: \(secret)"
    for limit in 0...text.count {
      let shown = Self.struck(text, [secret], isCut: true, keeping: limit)
      let begin = text.count - secret.count
      #expect(shown == (limit <= begin ? String(text.prefix(limit)) : String(text.prefix(begin)) + "REDACTED"))
    }
    #expect(StruckSecrets([secret]).reach >= 6 * secret.count)
    // What the target cuts itself is struck.
    #expect(Self.struck("x Zq9kT4xW-01", [secret], isCut: true) == "x REDACTED")
    #expect(Self.struck("x Zq9kT4", [secret], isCut: true) == "x Zq9kT4")
  }

  @Test("what nobody can look into is withheld")
  func hidden() {
    for (coding, status) in [("br", 200), ("gzip, br", 200), (nil, 206)] as [(String?, Int)] {
      #expect(Self.struck("xyz", status: status, coding: coding) == "REDACTED")
    }
    #expect(Self.struck("xyz", coding: "identity") == "xyz" && Self.struck("\u{1F}xyz") == "\u{1F}xyz")
  }
}

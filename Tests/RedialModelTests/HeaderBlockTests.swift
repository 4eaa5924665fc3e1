import Testing

@testable import RedialModel

@Suite("Header sections")
struct HeaderBlockTests {
  @Test(
    "names are judged by their first letters, in any case",
    arguments: [
      ("", false), ("Server: r\r\nDate: x\r\n", false), ("Server: a\r\nRateLimit: r=0\r\n", true),
      ("x-ratelimit-reset: 5\r\n", true), ("Via: b\r\nX-A: b", true), ("Via: b", false), ("\r\n\r\n", false),
      ("\n", false),
    ])
  func firstLetters(text: String, expected: Bool) {
    let block = HeaderBlock(bytes: Array(text.utf8))
    #expect(block.mayName(startingWith: UInt8(ascii: "r"), or: UInt8(ascii: "x")) == expected)
  }
}

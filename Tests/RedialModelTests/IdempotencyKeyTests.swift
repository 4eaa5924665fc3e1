import RedialModel
import Testing

@Suite("Idempotency-Key")
struct IdempotencyKeyTests {
  @Test("a string of RFC 8941 and the bare text are the same key")
  func sound() {
    #expect(IdempotencyKey.parse("\"order 7\"") == "order 7")
    #expect(IdempotencyKey.parse("order-7") == "order-7")
    #expect(IdempotencyKey.parse("\"order-7\"") == "order-7")
    #expect(IdempotencyKey.parse(#""a\"b\\c""#) == #"a"b\c"#)
    #expect(IdempotencyKey.parse(String(repeating: "k", count: 255))?.count == 255)
  }

  @Test(
    "anything else is not a key",
    arguments: [
      "", "\"\"", "\"a", "a\"", "a b", "a,b", "\"a\"b", #""a\x""#, #""a\"#, "\"é\"", "é", "a\tb",
      String(repeating: "k", count: 256), "\"" + String(repeating: "k", count: 256) + "\"",
    ])
  func junk(text: String) {
    #expect(IdempotencyKey.parse(text) == nil)
  }
}

import RedialJSON
import Testing

@Suite("The normal form of JSON")
struct JSONNormalFormTests {
  private func form(_ text: String) -> String? {
    Array(text.utf8).withUnsafeBufferPointer { JSONNormalForm.of($0).map { String(decoding: $0, as: UTF8.self) } }
  }

  @Test(
    "texts with one value have one form",
    arguments: [
      [#"{"b":1,"a":{"d":[],"c":null}}"#, " { \"a\" : {\"c\":null,\n\"d\":[ ]}, \"b\":1 } "],
      ["1", "1.0", "10e-1", "0.1E+1", "0.01e2", "100e-2", "1.000", "1e0"],
      ["0", "-0", "0.0", "-0.000", "0e9", "-0e-7"], ["-120", "-1.2e2", "-1200E-1", "-0.12e3"],
      [#""ü\n/\"""#, #""\u00fc\u000a\/\"""#, #""\u00FC\n/\u0022""#], [#""😀""#, #""\ud83d\ude00""#],
      [#"{"ü":1}"#, #"{"\u00fc":1.0}"#], [#"{"a":1,"a":2}"#, #"{"a":1e0,"a":2.0}"#], ["true", " true "],
    ])
  func equal(texts: [String]) throws {
    let forms = Set(try texts.map { try #require(form($0)) })
    #expect(forms.count == 1, "\(forms)")
  }

  @Test(
    "texts with different values have different forms",
    arguments: [
      [
        "1", "10", "0.1", "-1", "\"1\"", "1e99999999", "1e-99999999", "[1]", "null", "true", "false", "{}", "[]",
        "\"\"", "0",
      ],
      ["12345678901234567890", "12345678901234567891", "1234567890123456789", "12345678901234567890.0000000001"],
      // Readers differ about which of them counts.
      [#"{"a":1,"a":2}"#, #"{"a":2,"a":1}"#, #"{"a":1}"#, #"{"a":2}"#],
      ["[1,2]", "[2,1]", "[[1],2]", "[[1,2]]", "[12]"], [#"{"a":{"b":1}}"#, #"{"a":{},"b":1}"#, #"{"b":{"a":1}}"#],
      ["\"é\"", "\"e\u{301}\"", "\"E\""], ["1e1152921504606846976", "1e1152921504606846977"],
    ])
  func different(texts: [String]) throws {
    // Strings are equal if their characters are, in whatever scalars.
    let forms = Set(try texts.map { Array(try #require(form($0)).utf8) })
    #expect(forms.count == texts.count, "\(texts)")
  }

  @Test("what is not one JSON value has none", arguments: ["", "{", "{} {}", "01", "nul", "\u{FEFF}{}", #"{"a"}"#])
  func none(text: String) { #expect(form(text) == nil) }
}

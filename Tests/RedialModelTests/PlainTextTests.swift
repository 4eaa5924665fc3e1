import Testing

@testable import RedialModel
import RedialJSON

@Suite("Text of other authors")
struct PlainTextTests {
  @Test(
    "characters that a terminal acts on or does not show are escaped",
    arguments: [
      ("a\u{1B}[2Jb", #"a\u001b[2Jb"#), ("\u{9B}1m", #"\u009b1m"#),
      ("\u{80}\u{9F}\u{7F}\u{0}", #"\u0080\u009f\u007f\u0000"#),
      ("\u{202E}\u{202A}\u{2066}\u{2069}\u{200E}\u{200F}\u{61C}", #"\u202e\u202a\u2066\u2069\u200e\u200f\u061c"#),
      ("\u{2028}\u{2029}", #"\u2028\u2029"#), ("a\nb\tc", #"a\u000ab\u0009c"#),
      ("\u{200B}\u{200C}\u{200D}\u{2060}\u{FEFF}\u{AD}", #"\u200b\u200c\u200d\u2060\ufeff\u00ad"#),
      ("\u{180E}\u{FFF9}\u{206A}", #"\u180e\ufff9\u206a"#), ("\u{3164}\u{115F}\u{FE0F}", #"\u3164\u115f\ufe0f"#),
      ("\u{E0041}\u{E0100}", #"\udb40\udc41\udb40\udd00"#),
    ])
  func escapes(text: String, escaped: String) {
    #expect(PlainText.escaped(text) == escaped)
    #expect(PlainText.needsEscapes(text))
  }

  @Test("other text is unchanged", arguments: ["", "plain text", "é ß 日本語 🙂 مرحبا", #"C:\u202e"#, "a\u{A0}b\u{301}"])
  func stays(text: String) {
    #expect(PlainText.escaped(text) == text)
    #expect(!PlainText.needsEscapes(text) && !PlainText.hasControls(text))
  }

  @Test("lines and tabs may stay")
  func lines() {
    #expect(PlainText.escaped("a\n\tb\r\u{2028}", keepsLines: true) == "a\n\tb" + #"\u000d\u2028"#)
  }

  @Test("JSON means the same afterwards")
  func json() throws {
    let text = "x\u{9B}\u{202E}\u{E0041}\u{7F}\n\"\\é"
    var writer = JSONWriter()
    writer.string(text)
    let escaped = PlainText.escaped(String(decoding: writer.bytes, as: UTF8.self))
    #expect(!PlainText.needsEscapes(escaped))
    let read = try Array(escaped.utf8).withUnsafeBufferPointer { bytes in
      var reader = JSONReader(bytes)
      return try reader.string()
    }
    #expect(read == text)
  }

  private func problem(_ json: String) -> [Problem.Fault] {
    Array(json.utf8).withUnsafeBufferPointer { bytes in
      do throws(Problem) {
        _ = try CallDescriptor.read(bytes)
        return []
      } catch {
        return error.errors
      }
    }
  }

  @Test(
    "targets, ordering keys and names of labels have no control characters, C1 and directions among them",
    arguments: [
      #"\u001b"#, #"\u007f"#, #"\u0085"#, #"\u009b"#, #"\u202e"#, #"\u2028"#, #"\u2029"#, #"\u2067"#, #"\u200f"#,
    ])
  func refused(escape: String) {
    for (member, pointer) in [
      (#""target":"a\#(escape)b""#, "/target"), (#""orderingKey":"\#(escape)""#, "/orderingKey"),
      (#""labels":{"a\#(escape)":"x"}"#, "/labels/a"),
    ] {
      let faults = problem(#"{"url":"http://a.example/",\#(member)}"#)
      #expect(faults.count == 1 && faults[0].place.name.hasPrefix(pointer), "\(member): \(faults)")
      #expect(faults.first?.detail.contains("control character") == true)
    }
  }

  @Test("names may contain joiners, and values of labels may contain anything")
  func accepted() {
    #expect(
      problem(#"{"url":"http://a.example/","target":"👨‍👩‍👧 می‌خواهم","labels":{"é":"\u202e\u0085"}}"#).isEmpty)
  }

  @Test(
    "only Redial sets the fields with the attempt's ids, whatever their case",
    arguments: ["Redial-Call-Id", "redial-call-id", "REDIAL-ATTEMPT", "redial-Attempt"])
  func ownFields(name: String) {
    for value in [#""x""#, #"["x","y"]"#, "[]"] {
      let faults = problem(#"{"url":"http://a.example/","headers":{"\#(name)":\#(value)}}"#)
      #expect(faults == [.init(pointer: "/headers/\(name)", detail: "is set by Redial and cannot be given")])
    }
    // Options for another Redial do not concern this one.
    #expect(problem(#"{"url":"http://a.example/","headers":{"Redial-Policy":"x","Redial-Attempts":"1"}}"#).isEmpty)
    #expect(HeaderRules.fault(inName: name, isAccepted: true) == nil)
  }
}

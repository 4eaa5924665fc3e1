import RedialCore
import RedialJSON
import Testing

@testable import RedialModel

@Suite("Bytes as text")
struct ByteTextTests {
  @Test("the first bytes of a text are it up to its last whole character, wherever it is cut")
  func cut() {
    let text = "aé€😀\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}z"
    let bytes = Array(text.utf8)
    for count in 0...bytes.count {
      let cut = Array(bytes[..<count])
      let whole = String(decoding: cut, as: UTF8.self).prefix { $0 != "\u{FFFD}" }
      #expect(ByteText.leading(cut, mayEndEarly: true) == String(whole), "\(count)")
      #expect(
        ByteText.leading(cut, mayEndEarly: false) == (whole.utf8.count == count ? String(whole) : nil), "\(count)")
    }
  }

  @Test("bytes that no text begins with are not taken for a cut one")
  func binary() {
    for bytes: [UInt8] in [
      [0xFF], [0x41, 0xFF], [0x80], [0x41, 0x80], [0xC0], [0xC1, 0x80], [0xE0, 0x80], [0xED, 0xA0], [0xF0, 0x80],
      [0xF4, 0x90], [0xF5], [0xC3, 0x41], [0xE2, 0x82, 0x41], [0xFF, 0xC3],
    ] { #expect(ByteText.leading(bytes, mayEndEarly: true) == nil, "\(bytes)") }
  }

  @Test("a header field has its bytes again after it was stored and replayed, whatever they are")
  func fields() throws {
    for seed in UInt64(0)..<300 {
      var random = RandomSource(seed: seed)
      let length = Int(random.next() % 12)
      let bytes = (0..<length).map { _ in UInt8(0x21 + random.next() % 0xDF) }.filter { $0 != 0x7F }
      let field = HeaderField("x", bytes: bytes)
      var writer = JSONWriter()
      writer.beginObject()
      writer.field("url", "http://x/")
      writer.key("headers")
      writer.beginObject()
      writer.key("x")
      field.writeStored(to: &writer)
      writer.endObject()
      writer.endObject()
      var limits = CallDescriptor.Limits()
      limits.mayHaveLatin1 = true
      let spec = try writer.bytes.withUnsafeBufferPointer { try CallDescriptor.read($0, limits: limits).spec }
      let stored = try spec.canonicalJSON.withUnsafeBufferPointer { try CallSpec.read(canonicalJSON: $0) }
      #expect(stored.headers == [field], "seed \(seed)")
      let sent = field.isLatin1 ? field.value.unicodeScalars.map { UInt8($0.value) } : Array(field.value.utf8)
      #expect(sent == bytes, "seed \(seed)")
    }
  }

  @Test(
    "a stored value that is not a text of bytes is refused",
    arguments: [
      #"{"latin1": "€"}"#, #"{"latin1": 1}"#, #"{}"#, #"{"utf8": "x"}"#, #"{"latin1": "a", "more": 1}"#,
      #"{"latin1": "a\n"}"#,
    ])
  func refused(value: String) {
    let text = Array(#"{"url": "http://x/", "headers": {"x": \#(value)}}"#.utf8)
    var limits = CallDescriptor.Limits()
    limits.mayHaveLatin1 = true
    #expect(throws: Problem.self) { try text.withUnsafeBufferPointer { try CallDescriptor.read($0, limits: limits) } }
  }
}

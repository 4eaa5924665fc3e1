import RedialModel
import Testing

@testable import RedialPostgres

@Suite("Texts in PostgreSQL")
struct StoredTextTests {
  @Test("any text is read back as it was stored, and no stored text contains U+0000")
  func roundTrip() {
    for text in [
      "", "plain – é", "\0", "a\0b\0", "\u{F8FF}", "\u{F8FF}0", "\0\u{F8FF}0\0", "\u{FFFD}",
      "0\u{F8FF}\u{F8FF}\0",
    ] {
      let stored = StoredText.encoded(text)
      #expect(!stored.contains(0))
      #expect(stored.withUnsafeBufferPointer(StoredText.decoded) == text)
    }
    #expect(StoredText.encoded("\0") != StoredText.encoded("\u{F8FF}0"))
  }
}

import RedialModel
import Testing

@Suite("The normalization form of names")
struct NormalFormTests {
  @Test(
    "composed names of all scripts are accepted", arguments: ["", "billing", "café", "한국어", "हिन्दी", "ไทย", "日本語", "👩‍👩‍👧"])
  func composed(name: String) {
    #expect(NormalForm.isComposed(name))
  }

  @Test(
    "names with another composed form are refused",
    arguments: ["cafe\u{301}", "\u{1112}\u{1161}\u{11AB}", "\u{212B}", "a\u{301}\u{323}", "\u{0958}"])
  func decomposed(name: String) {
    #expect(!NormalForm.isComposed(name))
  }
}

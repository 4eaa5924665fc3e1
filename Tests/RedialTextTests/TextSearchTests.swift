import RedialText
import Testing

@Suite struct TextSearchTests {
  @Test(
    arguments: [
      ("https://a", "://", 5), ("aab", "ab", 1), ("aaab", "aab", 1), ("ab", "abc", nil), ("", "a", nil), ("a", "", 0),
      ("é://", "://", 2),
    ] as [(String, String, Int?)])
  func theFirstPlaceIsFound(text: String, sought: String, place: Int?) {
    let found = text.firstRange(of: sought)
    #expect(found.map { text.utf8.distance(from: text.startIndex, to: $0.lowerBound) } == place)
    #expect(found.map { String(text[$0]) } == place.map { _ in sought })
    #expect(text.contains(sought) == (place != nil))
  }

  @Test(arguments: [
    ("a & b & c", "&", "&amp;", "a &amp; b &amp; c"), ("aaa", "aa", "b", "ba"), ("abc", "x", "y", "abc"),
    ("", "a", "b", ""),
    ("abc", "", "x", "abc"), ("'", "'", "''", "''"),
  ])
  func eachPlaceIsReplaced(text: String, sought: String, replacement: String, result: String) {
    #expect(text.replacing(sought, with: replacement) == result)
    #expect("(\(text)".dropFirst().replacing(sought, with: replacement) == result)
  }
}

import RedialModel
import Testing

@Suite("Words of the API as people say them")
struct SpokenWordsTests {
  @Test(
    "are in lower case with spaces, and texts stay as they are",
    arguments: [
      ("connectionRefused", "connection refused"), ("silence", "no answer for long"),
      ("failureRate", "too many attempts failed"), ("breaker", "breaker"), ("tlsCertificate", "tls certificate"),
      ("HTTP 503", "HTTP 503"), ("503 upstream error", "503 upstream error"), ("a\u{1B}b", "a\\u001bb"), ("", ""),
    ])
  func of(_ word: (api: String, spoken: String)) { #expect(SpokenWords.of(word.api) == word.spoken) }
}

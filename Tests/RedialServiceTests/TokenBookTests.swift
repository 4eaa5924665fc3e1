import RedialCore
import Testing

@testable import RedialModel
@testable import RedialService

/// When tokens are fetched, who waits for them, and what a broken endpoint costs.
struct TokenBookTests {
  /// A book, as a reference: expectations may not change values.
  private final class Shelf {
    private var book = TokenBook()

    func need(_ credential: Credential, by call: UInt64, at now: Timestamp) -> Need {
      let (answer, mustFetch) = book.need(credential, by: call, at: now)
      return Need(answer: answer, mustFetch: mustFetch)
    }

    func fetched(
      _ name: CredentialName, of changedAt: Timestamp, _ result: Result<TokenBook.Token, TokenFault>, at now: Timestamp
    ) -> [UInt64] { book.fetched(name, of: changedAt, result, at: now) }

    func refused(
      _ token: String, of credential: Credential, by origin: String = "http://a", after seconds: Int = 0
    ) -> Bool {
      book.refused(token, of: credential, by: origin, at: TokenBookTests.start + .seconds(seconds))
    }
    func accepted(_ credential: Credential, by origin: String = "http://a") {
      book.accepted(credential.key, by: origin)
    }
    func forgetAll() { book.forget { _ in false } }
    func standing(of credential: Credential, at now: Timestamp) -> TokenBook.Standing {
      book.standing(of: credential, at: now)
    }
  }

  private struct Need: Equatable {
    var answer: TokenBook.Answer
    var mustFetch: Bool

    init(answer: TokenBook.Answer, mustFetch: Bool) { (self.answer, self.mustFetch) = (answer, mustFetch) }
    init(_ answer: TokenBook.Answer, _ mustFetch: Bool) { self.init(answer: answer, mustFetch: mustFetch) }
  }

  private static let start = Timestamp(microseconds: 1_790_000_000_000_000)

  private func credential(_ name: String = "shop", changedAt: Timestamp = start) throws -> Credential {
    let json = Array(
      """
      {"type": "oauth2", "tokenURL": "https://a.example/token", "clientID": "a", "clientSecret": "b",
       "origins": ["https://b.example"]}
      """.utf8)
    let draft = try json.withUnsafeBufferPointer { try CredentialDraft.read($0, limits: CallDescriptor.Limits()) }
    return Credential(draft, name: name, in: .default, inPlaceOf: nil, at: changedAt)
  }

  private func token(_ text: String, for lifetime: Duration, at now: Timestamp) -> Result<TokenBook.Token, TokenFault> {
    .success(TokenBook.Token(text, lifetime: lifetime, at: now))
  }

  @Test("one fetch serves all that wait, and later ones use the token at once")
  func oneFetch() throws {
    let (shop, now) = (try credential(), Self.start)
    let book = Shelf()
    #expect(book.need(shop, by: 1, at: now) == Need(.wait, true))
    for call in 2...1000 as ClosedRange<UInt64> { #expect(book.need(shop, by: call, at: now) == Need(.wait, false)) }
    #expect(book.standing(of: shop, at: now) == .fetching)
    let freed = book.fetched(shop.key, of: shop.changedAt, token("t", for: .seconds(100), at: now), at: now)
    #expect(freed == Array(1...1000))
    #expect(book.need(shop, by: 1001, at: now) == Need(.use("t"), false))
    #expect(book.standing(of: shop, at: now) == .valid(until: now + .seconds(95)))
  }

  @Test("a token is renewed ahead of its end, by one fetch, and used meanwhile")
  func renewal() throws {
    let (shop, now) = (try credential(), Self.start)
    let book = Shelf()
    _ = book.need(shop, by: 1, at: now)
    _ = book.fetched(shop.key, of: shop.changedAt, token("old", for: .seconds(100), at: now), at: now)
    #expect(book.need(shop, by: 2, at: now + .seconds(79)) == Need(.use("old"), false))
    #expect(book.need(shop, by: 3, at: now + .seconds(80)) == Need(.use("old"), true))
    #expect(book.need(shop, by: 4, at: now + .seconds(81)) == Need(.use("old"), false))
    // A renewal that fails costs nobody anything while the old token is good.
    let fault = Result<TokenBook.Token, TokenFault>.failure(TokenFault(message: "down"))
    #expect(book.fetched(shop.key, of: shop.changedAt, fault, at: now + .seconds(82)).isEmpty)
    #expect(book.need(shop, by: 5, at: now + .milliseconds(82_500)) == Need(.use("old"), false))
    #expect(book.need(shop, by: 6, at: now + .seconds(83)) == Need(.use("old"), true))
    // Once it has expired, one waits for the fetch.
    #expect(book.need(shop, by: 7, at: now + .seconds(95)) == Need(.wait, false))
  }

  @Test("an endpoint that fails is asked after 1, 2, 4 … 60 seconds; meanwhile nobody waits")
  func breaker() throws {
    let shop = try credential()
    let book = Shelf()
    var now = Self.start
    for pause in [1, 2, 4, 8, 16, 32, 60, 60] {
      #expect(book.need(shop, by: 1, at: now) == Need(.wait, true))
      let freed = book.fetched(shop.key, of: shop.changedAt, .failure(TokenFault(message: "down")), at: now)
      #expect(freed == [1])
      let early = now + .milliseconds(pause * 1000 - 1)
      #expect(book.need(shop, by: 2, at: early) == Need(.unavailable("down"), false))
      #expect(book.standing(of: shop, at: early) == .failing("down", until: now + .seconds(pause)))
      now = now + .seconds(pause)
    }
    _ = book.need(shop, by: 3, at: now)
    _ = book.fetched(shop.key, of: shop.changedAt, token("t", for: .seconds(1000), at: now), at: now)
    #expect(book.need(shop, by: 4, at: now) == Need(.use("t"), false))
  }

  @Test("a refused token is fetched again once, however many calls had it")
  func refusal() throws {
    let (shop, now) = (try credential(), Self.start)
    let book = Shelf()
    _ = book.need(shop, by: 1, at: now)
    _ = book.fetched(shop.key, of: shop.changedAt, token("one", for: .seconds(1000), at: now), at: now)
    #expect(book.refused("one", of: shop))
    #expect(book.refused("one", of: shop))
    #expect(book.need(shop, by: 1, at: now) == Need(.wait, true))
    // Another call had it too: it waits for the same fetch.
    #expect(book.refused("one", of: shop))
    #expect(book.need(shop, by: 2, at: now) == Need(.wait, false))
    #expect(
      book.fetched(shop.key, of: shop.changedAt, token("two", for: .seconds(1000), at: now), at: now) == [1, 2])
    // A third one that had the first token uses the second; who was refused with that gives up.
    #expect(book.refused("one", of: shop))
    #expect(!book.refused("two", of: shop))
    #expect(book.need(shop, by: 3, at: now) == Need(.use("two"), false))
  }

  @Test("an origin that accepted a token may refuse it later; one that refuses all does so alone")
  func refusers() throws {
    let (shop, now) = (try credential(), Self.start)
    let book = Shelf()
    func fetch(_ text: String) {
      _ = book.need(shop, by: 1, at: now)
      _ = book.fetched(shop.key, of: shop.changedAt, token(text, for: .seconds(1000), at: now), at: now)
    }
    fetch("one")
    #expect(book.refused("one", of: shop))
    fetch("two")
    book.accepted(shop)
    #expect(book.refused("two", of: shop, after: 1))
    fetch("three")
    // It has accepted none since. Another one is not concerned.
    #expect(!book.refused("three", of: shop, after: 2))
    #expect(book.refused("three", of: shop, by: "http://b", after: 3))
    fetch("four")
    #expect(!book.refused("four", of: shop, after: 59))
    #expect(book.refused("four", of: shop, after: 61))
    #expect(book.refused("four", of: shop, after: 61))
  }

  @Test("a credential that changes forgets its token; a fetch for the old one says nothing")
  func change() throws {
    let (old, now) = (try credential(), Self.start)
    let new = try credential(changedAt: now + .seconds(1))
    let book = Shelf()
    #expect(book.need(old, by: 1, at: now) == Need(.wait, true))
    #expect(book.need(new, by: 2, at: now) == Need(.wait, true))
    #expect(book.fetched(old.key, of: old.changedAt, token("old", for: .seconds(9), at: now), at: now).isEmpty)
    let freed = book.fetched(new.key, of: new.changedAt, token("new", for: .seconds(9), at: now), at: now)
    #expect(freed == [1, 2])
  }

  @Test("what is not there any more is forgotten, but not while somebody waits for it")
  func forgetting() throws {
    let (shop, other, now) = (try credential(), try credential("other"), Self.start)
    let book = Shelf()
    _ = book.need(shop, by: 1, at: now)
    _ = book.need(other, by: 2, at: now)
    _ = book.fetched(other.key, of: other.changedAt, token("t", for: .seconds(100), at: now), at: now)
    book.forgetAll()
    #expect(book.standing(of: other, at: now) == TokenBook.Standing.none)
    #expect(
      book.fetched(shop.key, of: shop.changedAt, token("t", for: .seconds(100), at: now), at: now) == [1])
  }

  @Test("a token that lives for no time is given to nobody for long")
  func shortLife() throws {
    let (shop, now) = (try credential(), Self.start)
    let book = Shelf()
    _ = book.need(shop, by: 1, at: now)
    _ = book.fetched(shop.key, of: shop.changedAt, token("t", for: .zero, at: now), at: now)
    #expect(book.need(shop, by: 1, at: now) == Need(.wait, true))
  }
}

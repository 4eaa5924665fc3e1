import RedialCore
import Testing

@Suite("RateLimit fields")
struct RateLimitFieldsTests {
  private func read(_ fields: [(String, String)]) -> RateLimitFields {
    var all = RateLimitFields()
    for (name, value) in fields {
      all.note(ArraySlice(name.utf8), ArraySlice(value.utf8), at: Timestamp(microseconds: 1_790_000_000_000_000))
    }
    return all
  }

  @Test("the structured field of the draft, the most exhausted policy of several")
  func structured() {
    #expect(read([("ratelimit", #""default";r=50;t=30"#)]) == RateLimitFields(remaining: 50, reset: .seconds(30)))
    #expect(read([("ratelimit", #""a";r=0;t=30, "b"; r=9 ;t=100"#)]).wait == .seconds(30))
    #expect(read([("ratelimit", #""a";r=0;t=30, "b";r=0;t=100"#)]).wait == .seconds(100))
    #expect(read([("ratelimit", #""a";r=1;t=30"#)]).wait == nil)
  }

  @Test("its predecessors, with seconds or a date")
  func forerunners() {
    #expect(read([("ratelimit-remaining", "0"), ("ratelimit-reset", "17")]).wait == .seconds(17))
    #expect(read([("X-RateLimit-Remaining", " 0 "), ("x-ratelimit-reset", "1790000060")]).wait == .seconds(60))
    #expect(read([("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1700000000")]).wait == .zero)
    #expect(read([("x-ratelimit-remaining", "0")]).wait == nil)
  }

  @Test("invalid fields say nothing", arguments: ["", "-1", "1e3", "0x0", "r=", ";;;r=,=", "\"a\";r=x;t=1", "٣"])
  func junk(value: String) {
    for name in ["ratelimit", "ratelimit-remaining", "x-ratelimit-reset", "ratelimit-policy", "date"] {
      #expect(read([(name, value)]).wait == nil)
    }
  }

  @Test("no bytes trap")
  func anything() {
    for seed in UInt64(0)..<3000 {
      var random = RandomSource(seed: seed)
      let alphabet = Array("rt=;,0123456789 \"a".utf8)
      let value = (0..<Int(random.next() % 40)).map { _ in alphabet[Int(random.next() % UInt64(alphabet.count))] }
      for name in ["ratelimit", "x-ratelimit-reset", "ratelimit-remaining"] {
        var fields = RateLimitFields()
        fields.note(ArraySlice(name.utf8), value[...], at: .epoch)
        #expect((fields.reset ?? .zero) >= .zero && (fields.remaining ?? 0) >= 0)
      }
    }
  }
}

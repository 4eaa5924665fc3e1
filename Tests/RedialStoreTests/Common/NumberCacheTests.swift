import Testing

@testable import RedialSQLite
@testable import RedialStore

@Suite("The cache of numbers")
struct NumberCacheTests {
  @Test("a rollback forgets what the transaction has added, and nothing else")
  func rollback() {
    var cache = NumberCache<String>()
    cache.remember("found", 1)
    cache.add("kept", 2)
    cache.didCommit()
    cache.add("undone", 3)
    cache.remember("found too", 4)
    cache.didRollBack()
    #expect(cache["found"] == 1 && cache["kept"] == 2 && cache["found too"] == 4 && cache["undone"] == nil)
    // The next transaction may give the number to another key.
    cache.add("next", 3)
    cache.didCommit()
    cache.didRollBack()
    #expect(cache["next"] == 3)
  }

  @Test("it holds no more keys than its limit, and an added key that it dropped stays dropped")
  func limit() {
    var cache = NumberCache<Int>(limit: 10)
    for number in 0..<1000 {
      cache.add(number, Int64(number))
      #expect(cache[number] == Int64(number))
      #expect((0...number).count { cache[$0] != nil } <= 10)
    }
    cache.didRollBack()
    #expect((0..<1000).allSatisfy { cache[$0] == nil })
  }
}

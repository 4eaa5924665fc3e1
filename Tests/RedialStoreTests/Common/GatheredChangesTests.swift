import RedialCore
import Testing

@testable import RedialSQLite
@testable import RedialStore

@Suite("Gathered changes of counts")
struct GatheredChangesTests {
  private struct Refused: Error {}

  @Test("each count is written once with the sum of its changes, and not at all if that is zero")
  func sums() {
    var changes = GatheredChanges()
    changes.gather(0, 4, 1)
    changes.gather(1, 4, 2)
    changes.gather(0, 4, 5)
    changes.gather(0, 5, 1)
    changes.gather(0, 5, -1)
    var written: [[Int64]] = []
    changes.flush { written.append([$0, $1, $2]) }
    #expect(written == [[0, 4, 6], [1, 4, 2]])
    changes.flush { written.append([$0, $1, $2]) }
    #expect(written.count == 2, "a change is written once")
  }

  @Test("a rollback forgets them, and so does nothing else")
  func forgets() {
    var changes = GatheredChanges()
    changes.gather(1, 2, 3)
    #expect(throws: Refused.self) { try changes.flush { _, _, _ throws(Refused) in throw Refused() } }
    var written: [[Int64]] = []
    var copy = changes
    copy.flush { written.append([$0, $1, $2]) }
    #expect(written == [[1, 2, 3]], "a refused write loses nothing")
    changes.forget()
    changes.flush { written.append([$0, $1, $2]) }
    #expect(written.count == 1)
  }

  @Test("the sums are those of a dictionary, in any order", arguments: 0..<20 as Range<UInt64>)
  func random(seed: UInt64) {
    var random = RandomSource(seed: seed)
    var (changes, expected): (GatheredChanges, [[Int64]: Int64]) = (GatheredChanges(), [:])
    for _ in 0..<200 {
      let key = [Int64.random(in: 0...3, using: &random), Int64.random(in: 0...3, using: &random)]
      let change = Int64.random(in: -2...2, using: &random)
      changes.gather(key[0], key[1], change)
      expected[key, default: 0] += change
    }
    var found: [[Int64]: Int64] = [:]
    changes.flush { found[[$0, $1]] = $2 }
    #expect(found == expected.filter { $0.value != 0 }, "seed \(seed)")
  }
}

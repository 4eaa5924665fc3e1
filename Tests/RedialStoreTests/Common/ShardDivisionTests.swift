import RedialCore
import RedialModel
import Testing

@testable import RedialSQLite
@testable import RedialStore

@Suite("The division of shards")
struct ShardDivisionTests {
  @Test("an instance takes what it lacks of an even share, and only what is free")
  func takes() {
    let two = ShardDivision(among: 2, owned: 0, free: .all, takesShards: true)
    #expect(two.share == 32 && two.gained == ShardSet(0..<32))
    let free = ShardSet([5, 60])
    #expect(ShardDivision(among: 3, owned: 21, free: free, takesShards: true).gained == ShardSet([5]))
    #expect(ShardDivision(among: 3, owned: 22, free: free, takesShards: true).gained.isEmpty)
    #expect(ShardDivision(among: 3, owned: 0, free: free, takesShards: false).gained.isEmpty)
    #expect(ShardDivision(among: 3, owned: 64, free: free, takesShards: true).gained.isEmpty)
  }

  @Test("instances that join and leave end with every shard owned once, and nobody above the share", arguments: 1...70)
  func evens(instances: Int) {
    var random = RandomSource(seed: UInt64(instances))
    var (owned, free) = (Array(repeating: ShardSet.none, count: instances), ShardSet.all)
    for _ in 0..<instances * 3 {
      let one = Int.random(in: 0..<instances, using: &random)
      let division = ShardDivision(among: instances, owned: owned[one].size, free: free, takesShards: true)
      #expect(free.intersection(division.gained) == division.gained, "only free shards")
      owned[one] = owned[one].union(division.gained)
      free = free.subtracting(division.gained)
      #expect(owned[one].size <= division.share)
    }
    for one in owned.indices {
      let division = ShardDivision(among: instances, owned: owned[one].size, free: free, takesShards: true)
      owned[one] = owned[one].union(division.gained)
      free = free.subtracting(division.gained)
    }
    #expect(free.isEmpty && owned.reduce(0) { $0 + $1.size } == ShardSet.count)
  }
}

import RedialCore
import RedialModel
import Testing

@testable import RedialEngine

@Suite("The calls in memory")
struct CallTableTests {
  private static let spec = CallSpec.test()

  private static func call(_ id: CallID, stamp: UInt32) -> ActiveCall {
    let record = CallRecord(
      id: id, kind: .call, spec: spec, body: [], createdAt: .epoch,
      progress: CallProgress(state: .held, due: .epoch, roundStartedAt: .epoch))
    return ActiveCall(record: record, target: 0, stamp: stamp)
  }

  @Test("they are found, changed and taken out as in a dictionary", arguments: 0..<20 as Range<UInt64>)
  func asADictionary(seed: UInt64) {
    var random = RandomSource(seed: seed)
    var table = CallTable()
    var stamps: [CallID: UInt32] = [:]
    // Few identities meet often; those that a source gives out lie close to each other, others far apart.
    var source = CallIDSource(instance: 3)
    let ids = (0..<300).map { place in
      place % 2 == 0
        ? source.next(at: Timestamp(microseconds: Int64(place) * 400)) : CallID(rawValue: Int64(random.next() >> 1))
    }
    for step in 1...3000 {
      // It grows, shrinks and grows again.
      let isGrowing = step / 700 % 2 == 0
      let id = ids[Int(random.next() % 300)]
      switch random.unitInterval() {
      case ..<(isGrowing ? 0.6 : 0.2):
        table[id] = Self.call(id, stamp: UInt32(step))
        stamps[id] = UInt32(step)
      case ..<0.7:
        let taken = table.removeValue(forKey: id)
        #expect(taken?.stamp == stamps.removeValue(forKey: id), "seed \(seed), step \(step)")
      default:
        if let place = table.place(of: id) {
          table[at: place].enter(.ready, stamp: table[at: place].stamp + 10_000)
        }
        if let stamp = stamps[id] { stamps[id] = stamp + 10_000 }
      }
      #expect(table[id]?.stamp == stamps[id], "seed \(seed), step \(step)")
      #expect(table.count == stamps.count, "seed \(seed), step \(step)")
    }
    for id in ids { #expect(table.stamp(of: id) == stamps[id], "seed \(seed)") }
    #expect(Set(table.keys) == Set(stamps.keys), "seed \(seed)")
    for id in ids { table[id] = nil }
    #expect(table.isEmpty && table.values.isEmpty)
  }

  @Test("identities that share all the bits which an index of that size looks at are kept apart")
  func colliding() {
    // The hash is a product modulo 2^64 of which the upper half is looked at: of multiples of 2^58 only few bits are left.
    var table = CallTable()
    let ids = (1...31).map { CallID(rawValue: Int64($0) << 58) }
    for (place, id) in ids.enumerated() { table.insert(Self.call(id, stamp: UInt32(place))) }
    for (place, id) in ids.enumerated() where place % 3 == 0 { table.removeValue(forKey: id) }
    for (place, id) in ids.enumerated() { #expect(table.stamp(of: id) == (place % 3 == 0 ? nil : UInt32(place))) }
  }
}

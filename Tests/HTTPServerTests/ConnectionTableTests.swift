import Testing

@testable import HTTPServer

@Suite("The table of connections")
struct ConnectionTableTests {
  @Test("behaves like a list that is searched", arguments: 0..<20 as Range<UInt64>)
  func behavesLikeList(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let (limit, surplusLimit) = (5, 3)
    var table = ConnectionTable(limit: limit, surplusLimit: surplusLimit)
    var open: [Connection] = []
    var goneTags: [UInt64] = []
    for step in 0..<300 {
      let surplus = open.filter(\.isSurplus)
      switch Int.random(in: 0..<3, using: &random) {
      case 0 where table.hasRoom || table.hasSurplusRoom:
        let hadRoom = table.hasRoom
        let connection = table.add(Int32(step))
        #expect(connection.isSurplus == !hadRoom, "seed \(seed)")
        #expect(!open.contains { $0.slot == connection.slot }, "seed \(seed): two connections have one slot")
        open.append(connection)
      case 1 where !open.isEmpty:
        let connection = open.remove(at: Int.random(in: open.indices, using: &random))
        table.remove(connection)
        goneTags.append(connection.tag)
      default:
        if table.hasRoom, let connection = surplus.first { table.admit(connection) }
      }
      #expect(table.count == open.count, "seed \(seed)")
      #expect(table.surplusCount == open.count { $0.isSurplus }, "seed \(seed)")
      #expect(table.hasRoom == (open.count { !$0.isSurplus } < limit), "seed \(seed)")
      #expect(table.hasSurplusRoom == (open.count { $0.isSurplus } < surplusLimit), "seed \(seed)")
      #expect(Set(table.all.map(\.descriptor)) == Set(open.map(\.descriptor)), "seed \(seed)")
      for connection in open {
        #expect(table.connection(tag: connection.tag) === connection, "seed \(seed)")
        #expect(table[connection.slot] === connection, "seed \(seed)")
      }
      // An event that was fetched before a connection was closed must not reach the next one in its slot.
      for tag in goneTags { #expect(table.connection(tag: tag) == nil, "seed \(seed)") }
    }
    #expect(goneTags.count > 20, "seed \(seed)")
  }

  @Test("an answer finds its connection while its request is current, and not after")
  func tokens() {
    var table = ConnectionTable(limit: 10, surplusLimit: 0)
    let (first, second) = (table.add(1), table.add(2))
    table.numberRequest(of: first)
    table.numberRequest(of: second)
    let token = RequestToken(slot: Int32(first.slot), serial: first.serial)
    #expect(first.serial != second.serial)
    #expect(table.connection(of: token) === first)
    table.numberRequest(of: first)
    #expect(table.connection(of: token) == nil)
    let next = RequestToken(slot: Int32(first.slot), serial: first.serial)
    table.remove(first)
    #expect(table.connection(of: next) == nil)
    let third = table.add(3)
    table.numberRequest(of: third)
    #expect(third.slot == first.slot)
    #expect(table.connection(of: next) == nil)
    #expect(table.connection(of: RequestToken(slot: 99, serial: 1)) == nil)
  }
}

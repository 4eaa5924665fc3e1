@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("What calls occupy")
struct OccupancyTests {
  @Test("a call waits from when it comes into memory, except while its attempt is in flight")
  func waiting() {
    var occupancy = Occupancy()
    occupancy.hold(100)
    occupancy.hold(20)
    #expect(occupancy.waiting == 2 && occupancy.waitingBytes == 120)
    occupancy.start(100)
    #expect(occupancy.waiting == 1 && occupancy.waitingBytes == 20 && occupancy.inFlight == 1)
    occupancy.stop(100)
    #expect(occupancy.waiting == 2 && occupancy.waitingBytes == 120)
    occupancy.release(100)
    occupancy.release(20)
    #expect(occupancy == Occupancy())
  }

  @Test("the first and the last due call are noticed")
  func firstAndLast() {
    var occupancy = Occupancy()
    #expect(occupancy.becomeReady(1) == true)
    #expect(occupancy.becomeReady(2) == false)
    #expect(occupancy.ready == 2 && occupancy.readyBytes == 3)
    #expect(occupancy.leaveReady(1) == false)
    #expect(occupancy.leaveReady(2) == true)
    #expect(occupancy == Occupancy())
  }

  @Test("an eighth of a bound is kept free, a half is common, and a quarter is guaranteed")
  func shares() {
    let shares = MemoryShares(bound: 80)
    #expect(shares.beforeReserve == 70 && shares.common == 40 && shares.guaranteed == 20 && shares.due == 60)
    #expect(shares.keepsReserve(70) && !shares.keepsReserve(71))
  }

  @Test("a new call leaves room for those that the store was asked for, and one in memory need not")
  func oneRule() {
    var settings = EngineSettings()
    settings.maxHeld = 16
    var roster = Roster(SharedSettings(settings))
    let place = roster.add("http://a.example", at: .epoch)
    for _ in 0..<12 { roster.hold(0, of: place) }
    // 14 of 16 may be taken before the eighth that is kept free.
    #expect(roster.mayWait(0, at: 0, expecting: 1) && !roster.mayWait(0, at: 0, expecting: 2))
    #expect(roster.mayWait(nil, at: 0, expecting: 2))
    roster.hold(0, of: place)
    roster.hold(0, of: place)
    #expect(roster.mayWait(nil, at: 0, expecting: 0) && !roster.mayWait(0, at: 0, expecting: 0))
    roster.hold(0, of: place)
    #expect(!roster.mayWait(nil, at: 0, expecting: 0))
  }

  @Test("over random changes, a target, its namespace and the whole agree", arguments: 0..<20 as Range<UInt64>)
  func levels(seed: UInt64) throws {
    var random = RandomSource(seed: seed)
    var roster = Roster(SharedSettings(EngineSettings()))
    let acme = try #require(Namespace("acme"))
    let places = (0..<6).map {
      roster.add(TargetKey("http://t\($0).example", in: $0 < 3 ? .default : acme), at: .epoch)
    }
    var due = [Int](repeating: 0, count: places.count)
    var running = due
    for step in 0..<500 {
      let number = Int(random.next() % 6)
      let place = places[number]
      switch random.next() % 4 {
      case 0:
        roster.hold(10, of: place)
        roster.becomeReady(10, isRetry: false, of: place)
        due[number] += 1
      case 1 where due[number] > 0:
        due[number] -= 1
        running[number] += 1
        roster.leaveReady(10, isRetry: false, of: place)
        roster.start(10, of: place, at: .epoch)
      case 2 where running[number] > 0:
        running[number] -= 1
        roster.learn(random.next() % 2 == 0 ? .answer : .silence, startedAt: .distantFuture, of: place)
        roster.stop(10, of: place, wasMade: true)
        roster.release(10, of: place)
      default: break
      }
      let whole = roster.occupancy
      let own = roster.targets.map(\.occupancy)
      #expect(own.map(\.ready) == due && own.map(\.inFlight) == running, "seed \(seed), step \(step)")
      for values in [own, roster.namespaces.map(\.occupancy)] {
        #expect(values.reduce(0) { $0 + $1.held } == whole.held, "seed \(seed), step \(step)")
        #expect(values.reduce(0) { $0 + $1.readyBytes } == whole.readyBytes, "seed \(seed), step \(step)")
        #expect(values.reduce(0) { $0 + $1.runningBytes } == whole.runningBytes, "seed \(seed), step \(step)")
        #expect(values.reduce(0) { $0 + $1.borrowed } == whole.borrowed, "seed \(seed), step \(step)")
      }
      #expect(whole.busyTargets == due.count { $0 > 0 }, "seed \(seed), step \(step)")
      #expect(whole.busyNamespaces == [due[..<3], due[3...]].count { $0.contains { $0 > 0 } }, "seed \(seed)")
    }
  }
}

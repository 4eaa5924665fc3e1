import RedialCore
import RedialJSON
import RedialModel
import Testing

@Suite("What outlives the process of a target")
struct TargetRecordTests {
  private let now = Timestamp(microseconds: 1_000_000_000)

  @Test("is a breaker that is open, or half-open once its time is over, unless an operator holds it open")
  func breaker() {
    var stored = TargetRecord()
    stored.breaker = OpenBreaker(until: now + .seconds(1), trips: 1)
    #expect(stored.standing(at: now).breaker == .open(until: now + .seconds(1)))
    #expect(stored.standing(at: now + .seconds(1)).breaker == .halfOpen)
    stored.controls.isTripped = true
    #expect(stored.standing(at: now).breaker == .tripped)
    #expect(TargetRecord().standing(at: now) == TargetStanding())
    stored = TargetRecord()
    stored.askedUntil = now
    #expect(stored.standing(at: now) == TargetStanding(retryAfterUntil: now))
    stored = TargetRecord()
    stored.controls.isPaused = true
    #expect(stored.standing(at: now) == TargetStanding(isPaused: true))
  }

  @Test("is a limited pace for as long as its next owner would use it")
  func pace() {
    var stored = TargetRecord()
    stored.pace = SavedPace(delivered: 1, isLimited: true, at: now)
    #expect(stored.standing(at: now + .seconds(299)).isPaced)
    #expect(!stored.standing(at: now + .seconds(300)).isPaced)
  }

  private func read(_ text: String) throws(JSONError) -> TargetRecord {
    let bytes = Array(text.utf8)
    return try bytes.withUnsafeBufferPointer { bytes throws(JSONError) in try TargetRecord(bytes) }
  }

  @Test("is an object of the fields that are set, which reads as the same record")
  func bytes() throws {
    #expect(TargetRecord().bytes == Array("{}".utf8))
    var record = TargetRecord()
    record.controls.overrides.maxInFlight = 3
    record.controls.isPaused = true
    record.breaker = OpenBreaker(until: now, trips: 2)
    record.pace = SavedPace(delivered: 7.25, isLimited: true, at: now)
    record.usual = UsualShare(UsualFailures(share: 0.1234, learnedAt: now))
    record.askedUntil = now + .seconds(1)
    record.outage = TargetOutage(since: now, cause: "timeout", waited: 12)
    record.outage?.closedAt = now + .seconds(2)
    record.pastOutages = [TargetOutage(since: now, cause: "silence", waited: 1)]
    let text = """
      {"controls":{"overrides":{"maxInFlight":3},"paused":true},"breaker":{"until":1000000000,"trips":2},\
      "pace":{"delivered":7.25,"limited":true,"at":1000000000},\
      "usual":{"share":0.123,"at":1000000000},"askedUntil":1001000000,\
      "outage":{"since":1000000000,"cause":"timeout","closedAt":1002000000,"waited":12},\
      "pastOutages":[{"since":1000000000,"cause":"silence","waited":1}]}
      """
    #expect(String(decoding: record.bytes, as: UTF8.self) == text)
    #expect(try read(text) == record)
    record.breaker = OpenBreaker(until: .epoch, trips: 0)
    #expect(try read(String(decoding: record.bytes, as: UTF8.self)) == record)
  }

  @Test("keeps the latest outages that are over, and none for too long")
  func pastOutages() {
    var record = TargetRecord()
    record.endOutage(at: now)
    #expect(record == TargetRecord())
    let count = TargetRecord.mostPastOutages + 3
    for number in 0..<count {
      let since = now + .seconds(60 * number)
      record.outage = TargetOutage(since: since, cause: "timeout", waited: number)
      if number > 0 { record.outage?.closedAt = since + .seconds(5) }
      record.endOutage(at: since + .seconds(35))
    }
    #expect(record.outage == nil)
    #expect(record.pastOutages.map(\.waited) == Array((3..<count).reversed()))
    let last = record.pastOutages[0]
    let end = now + .seconds(60 * (count - 1) + 5) + TargetRecord.pastOutageMemory
    #expect(record.current(at: end).pastOutages == [last])
    #expect(record.current(at: end + .seconds(1)) == TargetRecord())
    // An old one goes when another is over.
    record.outage = TargetOutage(since: end, cause: "silence", waited: 99)
    record.endOutage(at: end + .seconds(1))
    #expect(record.pastOutages.map(\.waited) == [99])
  }

  @Test("reads in any order, with nulls, and with members of a newer version")
  func order() throws {
    let record = try read(
      #"{"new":{"a":[1]},"askedUntil":5,"pace":null,"p\u0061ce":1,"controls":{"tripped":true,"overrides":null,"x":1}}"#)
    var expected = TargetRecord()
    expected.askedUntil = Timestamp(microseconds: 5)
    expected.controls.isTripped = true
    #expect(record == expected)
  }

  @Test(
    "is refused as a whole if a part cannot be read",
    arguments: [
      "", "{", "[]", #"{"askedUntil":"soon"}"#, #"{"askedUntil":1}x"#, #"{"breaker":{"until":1.5}}"#,
      #"{"controls":{"overrides":{"maxInFlight":-1}}}"#, #"{"controls":{"overrides":{"speed":1}}}"#,
    ])
  func damaged(_ text: String) {
    #expect(throws: JSONError.self) { try read(text) }
  }

  @Test("forgets what matters no more: an old pace of a closed breaker, and a time that is over")
  func current() {
    var record = TargetRecord()
    record.pace = SavedPace(delivered: 1, isLimited: true, at: now)
    record.askedUntil = now + .seconds(3600)
    record.usual = UsualShare(UsualFailures(share: 0.5, learnedAt: now))
    #expect(record.current(at: now + .seconds(3599)) == record)
    #expect(record.current(at: now + .seconds(3601)) == TargetRecord())
    record.breaker = OpenBreaker(until: now, trips: 1)
    #expect(record.current(at: now + .seconds(3601)).pace == record.pace)
    #expect(UsualShare(UsualFailures(share: 0.009, learnedAt: now)) == nil)
  }
}

@Suite("How a target stands")
struct TargetStandingTests {
  @Test("is clear if no call has to wait for it, now or later")
  func clear() {
    let now = Timestamp(microseconds: 1_000_000_000)
    #expect(TargetStanding().isClear(at: now) && TargetStanding(rateUntil: now).isClear(at: now))
    for standing in [
      TargetStanding(breaker: .halfOpen), TargetStanding(isPaused: true), TargetStanding(isPaced: true),
      TargetStanding(lacksConnection: true), TargetStanding(retryAfterUntil: now + .seconds(1)),
    ] {
      #expect(!standing.isClear(at: now), "\(standing)")
    }
  }
}

@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("The engine's side of the store")
struct StoreDeskTests {
  private static let now = Timestamp(microseconds: 1_796_083_200_000_000)
  private static let id = CallID(rawValue: 7)

  private static func key(_ text: String) -> IdempotencyKey {
    IdempotencyKey(IdempotencyName(text, in: .default), fingerprint: [1])
  }

  private static func record(_ text: String) -> KeyRecord {
    KeyRecord(key: key(text), call: id, createdAt: now, expiresAt: now + .seconds(1))
  }

  @Test("what is written during a claim is claimed later, whatever its answer says")
  func claims() {
    var claims = Claims()
    claims.stored(due: Self.now + .seconds(5))
    #expect(claims.nextDue == Self.now + .seconds(5))
    claims.begin(limit: 10)
    claims.expect(3)
    #expect(claims.isOpen && claims.expected == 13)
    claims.stored(due: Self.now + .seconds(9))
    claims.stored(due: Self.now + .seconds(8))
    let none = claims.end(Claim(calls: [], nextDue: nil))
    #expect(none.isEmpty)
    #expect(claims.nextDue == Self.now + .seconds(8) && !claims.isOpen && claims.expected == 3)
    claims.noLongerExpect(3)
    claims.begin(limit: 1)
    claims.fail(at: Self.now)
    #expect(claims.nextDue == Self.now && claims.expected == 0)
  }

  @Test("an answer shows a call as it was if the call has left memory since it was requested")
  func fetches() {
    var fetches = Fetches()
    fetches.begin(Self.id)
    fetches.begin(Self.id)
    fetches.outdate(Self.id)
    fetches.begin(Self.id)
    #expect(fetches.end(Self.id) && fetches.end(Self.id) && !fetches.end(Self.id))
    let isStale = fetches.end(Self.id)
    #expect(!isStale)
  }

  @Test("a call that is accepted during a lookup of its key is found, and only until the lookup is answered")
  func lookups() {
    var keys = KeyLookups()
    keys.accepted(Self.record("a"))
    keys.begin(Self.key("a"))
    keys.begin(Self.key("a"))
    #expect(keys.end(Self.key("a")).accepted == nil)
    keys.accepted(Self.record("a"))
    #expect(keys.end(Self.key("a")).accepted?.call == Self.id)
    #expect(keys.end(Self.key("a")).accepted == nil)
  }

  @Test("lookups under a lost lease are void, later ones are not")
  func staleLookups() {
    var keys = KeyLookups()
    keys.begin(Self.key("a"))
    keys.accepted(Self.record("a"))
    keys.outdateAll()
    keys.begin(Self.key("a"))
    let first = keys.end(Self.key("a"))
    #expect(first.isStale && first.accepted == nil)
    let second = keys.end(Self.key("a"))
    #expect(!second.isStale)
  }

  @Test("decisions are kept from a failure until a retry has been confirmed")
  func trouble() throws {
    var desk = StoreDesk(nil)
    #expect(!desk.keep([.passTurn(Self.id)], then: []) && desk.refusal == nil && desk.canDecide)
    desk.enterTrouble(StoreError(kind: .full, message: "full"), retry: .seconds(1), at: Self.now)
    #expect(desk.epoch == 1 && desk.refusal == .storeFull && desk.isFailing && !desk.canDecide)
    desk.stick([.discard(Self.id)], then: [])
    #expect(desk.keep([.passTurn(Self.id)], then: []) == true)
    desk.completeTrouble()
    let over = try #require(desk.trouble)
    #expect(over.isComplete && over.until == Self.now + .seconds(1))
    #expect(over.stuck.writes.count == 1 && over.later.writes.count == 1)
    desk.beginRetry()
    #expect(desk.endTrouble(0) == nil && desk.trouble != nil)
    #expect(desk.endTrouble(1)?.later.writes.isEmpty == true && desk.trouble == nil && desk.refusal == nil)
  }

  @Test("a failure that only keys caused keeps clients waiting, until another follows")
  func contended() {
    let taken = TakenKey(submitted: Self.record("a"), earlier: Self.record("a"))
    var desk = StoreDesk(nil)
    desk.enterTrouble(
      StoreError(kind: .keyTaken, message: "taken", taken: [taken]), retry: .seconds(1), at: Self.now)
    #expect(desk.trouble?.until == Self.now && !desk.isFailing)
    #expect(desk.putOff(.drain) == true)
    #expect(
      desk.prolongTrouble(StoreError(kind: .unavailable, message: "gone"), retry: .seconds(1), at: Self.now)?.count == 1
    )
    #expect(!desk.putOff(.drain) && desk.isFailing)
  }

  @Test("a call is refused once")
  func refused() {
    var desk = StoreDesk(nil)
    let call = EngineProbe.record(id: Self.id, at: Self.now)
    #expect(desk.refuse(call, at: 2) == false)
    desk.enterTrouble(StoreError(kind: .unavailable, message: "gone"), retry: .seconds(1), at: Self.now)
    #expect(desk.refuse(call, at: 2) && !desk.refuse(call, at: 2))
    #expect(desk.hasRefused(Self.id) && desk.trouble?.place(of: Self.id) == 2)
  }
}

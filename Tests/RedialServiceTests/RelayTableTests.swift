import RedialCore
import RedialModel
import Testing

@testable import RedialService

@Suite("Which streams of other instances are open")
struct RelayTableTests {
  private typealias Step = RelayTable.Step

  private static func openings(_ steps: [Step]) -> [RelayTable.Opening] {
    steps.compactMap { step in if case .open(let opening) = step { opening } else { nil } }
  }

  private static func others(_ steps: [Step]) -> [Step] {
    steps.filter { step in if case .open = step { false } else { true } }
  }

  @Test("alone, an instance has all events at once")
  func alone() {
    var table = RelayTable()
    #expect(table.follow(.default) == [.whole(.default)])
  }

  @Test("a namespace is whole when each other instance sends its events, and then nothing was missed")
  func whole() throws {
    var table = RelayTable()
    #expect(table.meet([1: "http://a", 2: "http://b"]) == [])
    let opened = Self.openings(table.follow(.default))
    #expect(Set(opened.map(\.address)) == ["http://a", "http://b"])
    #expect(opened.allSatisfy { $0.last == nil && $0.pause == .zero })
    #expect(table.established(opened[0]) == [])
    #expect(table.follow(.default) == [])
    #expect(table.established(opened[1]) == [.whole(.default)])
    #expect(table.follow(.default) == [.whole(.default)])
    #expect(table.giveUp(.default) == [])
  }

  @Test("a stream that breaks is opened after its last event; if that fails, listeners learn it once")
  func broken() throws {
    var table = RelayTable()
    _ = table.meet([1: "http://a"])
    let first = try #require(Self.openings(table.follow(.default)).first)
    #expect(table.established(first) == [.whole(.default)])
    let ended = table.ended(first, after: "e-7", wasEstablished: true)
    let second = try #require(Self.openings(ended).first)
    #expect(Self.others(ended) == [] && second.last == "e-7" && second.pause > .zero)
    #expect(!table.needs(first) && table.needs(second))
    let failed = table.ended(second, after: nil, wasEstablished: false)
    let third = try #require(Self.openings(failed).first)
    #expect(Self.others(failed) == [.missed(.default)])
    #expect(third.last == "e-7" && third.pause > second.pause)
    let again = table.ended(third, after: nil, wasEstablished: false)
    #expect(Self.others(again) == [])
    let fourth = try #require(Self.openings(again).first)
    // It goes on where it was, and the other instance says so if it cannot.
    #expect(table.established(fourth) == [])
    #expect(table.missed(fourth) == [.missed(.default)])
    #expect(table.missed(third) == [])
  }

  @Test("pauses grow to a limit")
  func pauses() throws {
    var table = RelayTable()
    _ = table.meet([1: "http://a"])
    var opening = try #require(Self.openings(table.follow(.default)).first)
    for _ in 0..<40 {
      opening = try #require(
        Self.openings(table.ended(opening, after: nil, wasEstablished: false)).first)
    }
    #expect(opening.pause == .seconds(5))
  }

  @Test("an instance that comes later, or goes, may have done what nobody heard of")
  func changes() throws {
    var table = RelayTable()
    #expect(table.follow(.default) == [.whole(.default)])
    let joined = table.meet([1: "http://a"])
    #expect(Self.others(joined) == [])
    let opening = try #require(Self.openings(joined).first)
    #expect(table.established(opening) == [.missed(.default)])
    #expect(table.established(opening) == [])
    #expect(table.meet([:]) == [.missed(.default)])
    #expect(!table.needs(opening))
    // One that was never heard of is not missed.
    _ = table.meet([2: "http://b"])
    #expect(table.meet([:]) == [])
  }

  @Test("an instance that cannot be reached keeps nobody waiting")
  func unreachable() throws {
    var table = RelayTable()
    _ = table.meet([1: "http://a", 2: "http://b"])
    let opened = Self.openings(table.follow(.default))
    #expect(table.established(opened[0]) == [])
    #expect(Self.others(table.ended(opened[1], after: nil, wasEstablished: false)) == [.whole(.default)])
    var slow = RelayTable()
    _ = slow.meet([1: "http://a"])
    let late = try #require(Self.openings(slow.follow(.default)).first)
    #expect(slow.giveUp(.default) == [.whole(.default)])
    #expect(slow.established(late) == [.missed(.default)])
  }

  @Test("what nobody listens to is not asked for")
  func unfollowing() throws {
    var table = RelayTable()
    _ = table.meet([1: "http://a"])
    let other = try #require(Namespace("other"))
    let opened = try #require(Self.openings(table.follow(.default)).first)
    let kept = try #require(Self.openings(table.follow(other)).first)
    table.unfollow(.default)
    #expect(!table.needs(opened) && table.needs(kept))
    #expect(table.ended(opened, after: nil, wasEstablished: false) == [])
    table.unfollowAll()
    #expect(!table.needs(kept) && table.meet([:]) == [])
  }
}

import Testing

@testable import HTTPServer

@Suite("Deadline lists")
struct DeadlineListsTests {
  /// The same behaviour as the lists, in a simple form.
  private struct Model {
    var waits: [Int: (kind: DeadlineKind, deadline: UInt64, order: Int)] = [:]
    var next: UInt64? { waits.values.map(\.deadline).min() }

    func first(_ kind: DeadlineKind) -> Int? {
      waits.filter { $0.value.kind == kind }.min { $0.value.order < $1.value.order }?.key
    }
  }

  @Test("behave like a table that is searched", arguments: 0..<20 as Range<UInt64>)
  func behaveLikeTable(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let milliseconds: [UInt64] = [70, 10, 30, 20, 30, 2, 10, 15, 3]
    var lists = DeadlineLists(milliseconds: milliseconds)
    var model = Model()
    var now: UInt64 = 0
    for order in 0..<400 {
      let slot = Int.random(in: 0..<12, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        lists.clear(slot)
        model.waits[slot] = nil
      case 1: now += UInt64.random(in: 0..<8, using: &random)
      default:
        let kind = try #require(DeadlineKind.allCases.randomElement(using: &random))
        lists.set(slot, kind, now: now)
        model.waits[slot] = (kind, now + milliseconds[Int(kind.rawValue)], order)
      }
      while let (slot, kind) = lists.expired(now: now) {
        let wait = try #require(model.waits[slot], "seed \(seed)")
        #expect(wait.kind == kind && wait.deadline <= now, "seed \(seed)")
        lists.clear(slot)
        model.waits[slot] = nil
      }
      #expect(lists.next == model.next, "seed \(seed)")
      #expect(model.waits.values.allSatisfy { $0.deadline > now }, "seed \(seed)")
      for slot in 0..<12 { #expect(lists.kind(slot) == model.waits[slot]?.kind, "seed \(seed)") }
      for kind in DeadlineKind.allCases { #expect(lists.first(kind) == model.first(kind), "seed \(seed)") }
    }
  }
}

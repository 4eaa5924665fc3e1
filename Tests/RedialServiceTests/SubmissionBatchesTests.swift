import Testing

@testable import RedialService

@Suite("Batches of forwarded submissions")
struct SubmissionBatchesTests {
  typealias Batches = SubmissionBatches<String, Int>

  private let now = ContinuousClock.now

  private func limits(_ change: (inout Batches.Limits) -> Void = { _ in }) -> Batches.Limits {
    var limits = Batches.Limits()
    limits.rest = .seconds(1)
    limits.longestRest = .seconds(3)
    change(&limits)
    return limits
  }

  private func add(
    _ items: ClosedRange<Int>, size: Int = 1, for owner: String = "a", to batches: inout Batches,
    after time: Duration = .zero
  ) -> [Batches.Step] {
    batches.add(items.map { ($0, size) }, for: owner, at: now + time)
  }

  private func sent(_ steps: [Batches.Step]) -> [(owner: String, number: UInt64, items: [Int])] {
    steps.compactMap { if case .send(let batch) = $0 { (batch.owner, batch.number, batch.items) } else { nil } }
  }

  private func stored(_ steps: [Batches.Step]) -> [(items: [Int], isInDoubt: Bool)] {
    steps.compactMap { if case .store(let items, let isInDoubt) = $0 { (items, isInDoubt) } else { nil } }
  }

  @Test("a lone submission is sent at once, and those that come meanwhile are the next batch")
  func gathers() throws {
    var batches = Batches(limits())
    let first = try #require(sent(add(1...1, to: &batches)).first)
    #expect(first.items == [1])
    #expect(add(2...3, to: &batches).isEmpty && add(4...4, to: &batches).isEmpty)
    let ended = batches.ended(first.number, .answered, at: now)
    #expect(ended.answered == [1] && sent(ended.steps).map(\.items) == [[2, 3, 4]])
    #expect(batches.count == 3)
    let last = batches.ended(try #require(sent(ended.steps).first).number, .answered, at: now)
    #expect(last.answered == [2, 3, 4] && last.steps.isEmpty && batches.count == 0)
    #expect(sent(add(5...5, to: &batches)).map(\.items) == [[5]])
  }

  @Test("owners do not wait for each other")
  func owners() {
    var batches = Batches(limits())
    #expect(sent(add(1...1, for: "a", to: &batches)).map(\.owner) == ["a"])
    #expect(sent(add(2...2, for: "b", to: &batches)).map(\.owner) == ["b"])
  }

  @Test("a batch is bounded in number and in bytes, and what is larger than a batch is not sent")
  func bounds() throws {
    var batches = Batches(limits { ($0.batch, $0.batchBytes) = (3, 10) })
    let first = try #require(sent(add(1...5, to: &batches)).first)
    #expect(first.items == [1, 2, 3])
    let second = sent(batches.ended(first.number, .answered, at: now).steps)
    #expect(second.map(\.items) == [[4, 5]])
    #expect(add(6...8, size: 4, to: &batches).isEmpty)
    #expect(stored(add(9...9, size: 11, to: &batches)).map(\.items) == [[9]])
    var number = try #require(second.first).number
    var rest: [[Int]] = []
    while let next = sent(batches.ended(number, .answered, at: now).steps).first {
      number = next.number
      rest.append(next.items)
    }
    #expect(rest == [[6, 7], [8]])
  }

  @Test("what does not fit behind a batch is stored here, and the owner has not seen it")
  func full() throws {
    var batches = Batches(limits { ($0.waiting, $0.waitingBytes) = (2, 100) })
    let first = try #require(sent(add(1...1, to: &batches)).first)
    let more = stored(add(2...5, to: &batches))
    #expect(more.map(\.items) == [[4, 5]] && more.map(\.isInDoubt) == [false])
    _ = batches.ended(first.number, .answered, at: now)
    #expect(stored(add(6...6, size: 101, to: &batches)).map(\.items) == [[6]])
  }

  @Test("without an answer a batch is in doubt, what waited behind it is not, and the owner is left alone for a while")
  func silence() throws {
    var batches = Batches(limits())
    let first = try #require(sent(add(1...1, to: &batches)).first)
    _ = add(2...2, to: &batches)
    let ended = batches.ended(first.number, .unanswered, at: now)
    #expect(ended.answered.isEmpty && sent(ended.steps).isEmpty)
    #expect(stored(ended.steps).map(\.items) == [[1], [2]] && stored(ended.steps).map(\.isInDoubt) == [true, false])
    #expect(stored(add(3...3, to: &batches, after: .milliseconds(999))).map(\.isInDoubt) == [false])
    // Then one batch tries it, and after another silence the rest is twice as long, up to a bound.
    for rest in [1, 2, 3, 3] {
      let start = Duration.seconds(rest)
      let probe = try #require(sent(batches.add([(4, 1)], for: "a", at: now + start)).first)
      _ = batches.ended(probe.number, .notServed, at: now)
    }
    let probe = try #require(sent(batches.add([(4, 1)], for: "a", at: now + .seconds(3))).first)
    _ = batches.ended(probe.number, .answered, at: now)
    let again = try #require(sent(add(5...5, to: &batches)).first)
    _ = batches.ended(again.number, .unanswered, at: now)
    #expect(sent(add(6...6, to: &batches, after: .seconds(1))).count == 1, "an answer ends the long rests")
  }

  @Test("an owner that was not reached has done nothing")
  func notServed() throws {
    var batches = Batches(limits())
    let first = try #require(sent(add(1...1, to: &batches)).first)
    let steps = batches.ended(first.number, .notServed, at: now).steps
    #expect(stored(steps).map(\.items) == [[1]] && stored(steps).map(\.isInDoubt) == [false])
  }

  @Test("an end counts once, and one of an owner that has left still counts")
  func ends() throws {
    var batches = Batches(limits())
    let first = try #require(sent(add(1...1, to: &batches)).first)
    batches.meet(["b"])
    #expect(batches.ended(first.number, .answered, at: now).answered == [1])
    #expect(batches.ended(first.number, .answered, at: now).answered.isEmpty)
    let second = try #require(sent(add(2...2, to: &batches)).first)
    _ = batches.ended(second.number, .unanswered, at: now)
    batches.meet(["b"])
    #expect(sent(add(3...3, to: &batches)).count == 1, "what is known of an owner that has left is forgotten")
  }
}

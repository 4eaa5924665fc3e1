import Testing

@testable import RedialTransport

@Suite("Which names are looked up")
struct LookupQueueTests {
  private let start = ContinuousClock.now
  private func after(_ seconds: Double) -> ContinuousClock.Instant { start + .milliseconds(Int(seconds * 1000)) }

  /// Starts all names that may start.
  private func take(_ queue: inout LookupQueue, at seconds: Double) -> [String] {
    var names: [String] = []
    while let name = queue.next(at: after(seconds)) { names.append(name) }
    return names
  }

  @Test("a name is looked up once, however many attempts need it")
  func once() {
    var queue = LookupQueue(limit: 8)
    for _ in 0..<3 { queue.ask("a") }
    #expect(take(&queue, at: 0) == ["a"])
    queue.ask("a")
    #expect(take(&queue, at: 0) == [] && !queue.hasWaiting)
    queue.end("a", at: after(0))
    queue.ask("a")
    #expect(take(&queue, at: 0) == ["a"])
  }

  @Test("a name for which no attempt waits any more is not looked up")
  func forgotten() {
    var queue = LookupQueue(limit: 8)
    queue.ask("a")
    queue.ask("b")
    queue.forget("b")
    #expect(take(&queue, at: 0) == ["a"])
  }

  @Test("there are never more lookups than the limit", arguments: [1, 2, 3, 4, 16, 128])
  func bounded(limit: Int) {
    var queue = LookupQueue(limit: limit)
    for second in 0..<100 {
      for name in 0..<50 { queue.ask("\(second).\(name)") }
      let started = take(&queue, at: Double(second))
      #expect(queue.runningCount <= limit)
      #expect(queue.runningCount >= 1)
      // Every other lookup is answered, so that all standings occur.
      for name in started where name.hasSuffix("2") { queue.end(name, at: after(Double(second) + 0.01)) }
    }
  }

  @Test("a name that was fast before starts at once beside a thousand unknown names")
  func trusted() {
    var queue = LookupQueue(limit: 128)
    queue.ask("good")
    #expect(take(&queue, at: 0) == ["good"])
    queue.end("good", at: after(0.02))
    for second in 1..<60 {
      for name in 0..<1000 { queue.ask("dead\(name)") }
      _ = take(&queue, at: Double(second))
      queue.ask("good")
      #expect(take(&queue, at: Double(second)) == ["good"])
      queue.end("good", at: after(Double(second)))
    }
    #expect(queue.runningCount == 96)
  }

  @Test("a new name starts within a second beside a thousand dead ones")
  func unknown() {
    var queue = LookupQueue(limit: 128)
    for name in 0..<1000 { queue.ask("dead\(name)") }
    #expect(take(&queue, at: 0).count == 24)
    queue.ask("new")
    #expect(take(&queue, at: 0.9) == [])
    #expect(take(&queue, at: 1).first == "new")
    // Each second there are free threads again, until the first give up.
    for second in 2..<10 {
      queue.ask("new\(second)")
      #expect(take(&queue, at: Double(second)).first == "new\(second)")
    }
  }

  @Test("names that were slow last time share a quarter, until they are fast again")
  func slow() {
    var queue = LookupQueue(limit: 16)
    for name in 0..<12 {
      queue.ask("dead\(name)")
      #expect(take(&queue, at: 0) == ["dead\(name)"])
      queue.end("dead\(name)", at: after(10))
    }
    for name in 0..<12 { queue.ask("dead\(name)") }
    #expect(take(&queue, at: 20) == ["dead11", "dead10", "dead9", "dead8"])
    queue.end("dead11", at: after(20.1))
    queue.ask("dead11")
    #expect(take(&queue, at: 20.2) == ["dead11", "dead7"])
  }

  @Test("the memory for names is limited, and keeps the last used ones")
  func memory() {
    var queue = LookupQueue(limit: 4)
    for name in 0..<2 * LookupQueue.remembered {
      queue.ask("\(name)")
      #expect(queue.next(at: start) == "\(name)")
      queue.end("\(name)", at: name % 2 == 0 ? start : after(10))
    }
    #expect(queue.rememberedCount <= LookupQueue.remembered)
    // Both were slow; the first is no longer known, so that it starts before the other.
    queue.ask("\(2 * LookupQueue.remembered - 1)")
    queue.ask("1")
    #expect(take(&queue, at: 20).first == "1")
  }
}

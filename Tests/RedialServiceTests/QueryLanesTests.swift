import Dispatch
import Synchronization
import Testing

@testable import RedialService

@Suite("The threads that read the store")
struct QueryLanesTests {
  private func names(_ queue: inout QueryQueue<String>) -> [String] {
    var names: [String] = []
    while let ticket = queue.next() { names.append(ticket.job) }
    return names
  }

  @Test("look-ups never wait for scans, lists never wait only for scans, and the oldest query runs first")
  func loads() {
    var queue = QueryQueue<String>(lanes: 4)
    for (name, load) in [
      ("s1", QueryLoad.scan), ("s2", .scan), ("s3", .scan), ("l1", .list), ("l2", .list), ("u1", .lookUp),
      ("u2", .lookUp),
    ] { _ = queue.add(name, load, of: .nobody, isOwed: false) }
    #expect(queue.next()?.job == "s1")
    #expect(queue.next()?.job == "s2")
    // Two lanes are for others, and one of them only for look-ups.
    let list = queue.next()
    #expect(list?.job == "l1")
    // That is the fourth.
    #expect(names(&queue) == ["u1"])
    if let list { queue.finished(list) }
    #expect(names(&queue) == ["l2"])
  }

  @Test("one key leaves a lane to the others, and keys are served in rotation")
  func keys() {
    var queue = QueryQueue<String>(lanes: 4)
    for number in 1...3 { _ = queue.add("a\(number)", .scan, of: .key("a"), isOwed: false) }
    let first = queue.next()
    #expect(first?.job == "a1" && queue.next() == nil)
    _ = queue.add("b1", .scan, of: .key("b"), isOwed: false)
    _ = queue.add("b2", .scan, of: .key("b"), isOwed: false)
    let second = queue.next()
    #expect(second?.job == "b1" && queue.next() == nil)
    if let first { queue.finished(first) }
    #expect(names(&queue) == ["a2"])
    if let second { queue.finished(second) }
    #expect(names(&queue) == ["b2"])
  }

  @Test("waiting scans take no place from look-ups, nor those of one key from another's")
  func bounds() {
    var queue = QueryQueue<Int>(lanes: 1)
    var counts: [Int] = []
    for (load, key) in [
      (QueryLoad.scan, Caller.Admission.key("a")), (.scan, .key("b")), (.scan, .key("c")), (.list, .nobody),
      (.lookUp, .nobody),
    ] {
      var count = 0
      while queue.add(count, load, of: key, isOwed: false) != nil { count += 1 }
      counts.append(count)
    }
    #expect(counts == [250, 250, 0, 1000, 2000])
    #expect(queue.add(0, .lookUp, of: .nobody, isOwed: true) != nil)
    var taken = 0
    while let ticket = queue.next() {
      taken += 1
      queue.finished(ticket)
    }
    #expect(taken == 3501)
    #expect(queue.add(0, .scan, of: .key("a"), isOwed: false) != nil)
  }

  @Test("a free lane takes the queries behind a slow one")
  func sharing() {
    let lanes = QueryLanes(count: 4)
    let (gate, begun, done) = (
      DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
    )
    for _ in 0..<2 {
      #expect(
        lanes.run(as: .scan) {
          begun.signal()
          gate.wait()
        })
    }
    for _ in 0..<2 { #expect(begun.wait(timeout: .now() + 60) == .success) }
    for _ in 0..<100 { #expect(lanes.run { done.signal() }) }
    for _ in 0..<100 { #expect(done.wait(timeout: .now() + 60) == .success) }
    for _ in 0..<2 { gate.signal() }
  }

  @Test("a query whose client departs while it waits is dropped, and one that begins at once is not")
  func departures() {
    let lanes = QueryLanes(count: 1)
    let (gate, begun, done) = (
      DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
    )
    let ran = Mutex<[String]>([])
    let (first, second) = (QueryLanes.Departure(), QueryLanes.Departure())
    first.record()
    #expect(
      lanes.run(as: .scan, unless: first, drop: { ran.withLock { $0.append("first dropped") } }) {
        begun.signal()
        gate.wait()
        ran.withLock { $0.append("first") }
      })
    #expect(begun.wait(timeout: .now() + 60) == .success)
    #expect(
      lanes.run(as: .scan, unless: second, drop: { ran.withLock { $0.append("second dropped") } }) {
        ran.withLock { $0.append("second") }
      })
    #expect(lanes.run { done.signal() })
    second.record()
    gate.signal()
    #expect(done.wait(timeout: .now() + 60) == .success)
    #expect(ran.withLock { $0 } == ["first", "second dropped"])
  }
}

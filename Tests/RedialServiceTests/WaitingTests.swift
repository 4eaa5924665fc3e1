import Dispatch
import RedialCore
import RedialModel
import Synchronization
import Testing

@testable import RedialService

@Suite("Waiting for a call's end")
struct WaitingTests {
  @Test(
    "the wait preference is found as RFC 7240 writes it",
    arguments: [
      ("wait=10", 10), ("respond-async, wait=5", 5), ("Wait = 7", 7), ("wait=\"3\"", 3), ("wait=1; x=2, wait=9", 1),
      ("foo=\"a\", WAIT=0", 0),
    ])
  func preference(value: String, seconds: Int) {
    #expect(Preferences.wait(in: value) == .seconds(seconds))
  }

  @Test(
    "a wait that is not in whole seconds is ignored", arguments: ["", "wait", "wait=", "wait=-1", "wait=1.5", "w=1"])
  func noPreference(value: String) {
    #expect(Preferences.wait(in: value) == nil)
  }

  @Test("a wait that is too long is limited, not refused")
  func endless() {
    #expect((Preferences.wait(in: "wait=99999999999999999999999") ?? .zero) > .seconds(86_400))
  }

  private let clock = Clock()

  private func ended(_ id: CallID, _ state: StoredState) -> StoreWrite {
    .update(id, CallProgress(state: state, due: clock.now, roundStartedAt: clock.now), nil)
  }

  @Test("clients that wait for a call are notified of its end once, and no others are")
  func told() {
    let table = EndTable(limit: 10, clock: clock)
    let told = Mutex<[Int]>([])
    for (who, id) in [(1, 7), (2, 7), (3, 8)] {
      let ticket = table.wait(for: CallID(rawValue: Int64(id)), until: .distantFuture) { outcome in
        #expect(outcome == .ended)
        told.withLock { $0.append(who) }
      }
      #expect(ticket != nil)
    }
    table.committed([ended(CallID(rawValue: 7), .running), ended(CallID(rawValue: 9), .failed)])
    #expect(told.withLock { $0 } == [])
    table.committed([ended(CallID(rawValue: 7), .succeeded)])
    table.committed([ended(CallID(rawValue: 7), .succeeded)])
    #expect(told.withLock { $0 } == [1, 2])
    table.ended([CallID(rawValue: 6), CallID(rawValue: 8)])
    #expect(told.withLock { $0 } == [1, 2, 3])
  }

  @Test("a cancelled wait is not notified, and a notified one cannot be cancelled")
  func giveUp() throws {
    let table = EndTable(limit: 10, clock: clock)
    let told = Mutex(0)
    let id = CallID(rawValue: 1)
    let first = try #require(table.wait(for: id, until: .distantFuture) { _ in told.withLock { $0 += 1 } })
    let second = try #require(table.wait(for: id, until: .distantFuture) { _ in told.withLock { $0 += 1 } })
    #expect(table.giveUp(first))
    #expect(!table.giveUp(first))
    table.committed([ended(id, .cancelled)])
    #expect(told.withLock { $0 } == 1)
    #expect(!table.giveUp(second))
  }

  @Test("no more may wait than the limit, and a cancelled wait frees its place")
  func bound() throws {
    let table = EndTable(limit: 1, clock: clock)
    let id = CallID(rawValue: 1)
    let ticket = try #require(table.wait(for: id, until: .distantFuture) { _ in })
    #expect(table.wait(for: id, until: .distantFuture) { _ in } == nil)
    #expect(table.giveUp(ticket))
    #expect(table.wait(for: id, until: .distantFuture) { _ in } != nil)
  }

  @Test("waits end at their deadlines, and a stop ends every wait")
  func timeUp() async {
    let table = EndTable(limit: 10, clock: clock)
    let id = CallID(rawValue: 1)
    let outcome = await withCheckedContinuation { continuation in
      _ = table.wait(for: id, until: clock.now) { continuation.resume(returning: $0) }
    }
    #expect(outcome == .timedOut)
    let stopped = await withCheckedContinuation { continuation in
      _ = table.wait(for: id, until: .distantFuture) { continuation.resume(returning: $0) }
      table.close()
    }
    #expect(stopped == .timedOut)
    #expect(table.wait(for: id, until: .distantFuture) { _ in } == nil)
  }
}

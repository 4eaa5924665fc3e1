import Polling
import Foundation
import Redial
import RedialCore
import RedialLegacy
import Testing

@Suite("RetryingOperation: told to retry")
struct RetryNowTests {
  @Test("retry now ends a wait and cancels its timer")
  func retryNow() {
    let timers = ManualTimers()
    let operation = AsynchronousProbe(timers: timers) { _ in }
    operation.start()
    operation.baseOperationEnded(needsRetryIn: .seconds(60))
    #expect(operation.retryNow())
    #expect(operation.runs.elements == [false, true] && timers.count == 0)
    timers.advance(by: .seconds(60))
    #expect(operation.runs.count == 2)
  }

  @Test("a new delay replaces the old one, shorter or longer")
  func retryIn() {
    let timers = ManualTimers()
    let operation = AsynchronousProbe(timers: timers) { _ in }
    operation.start()
    operation.baseOperationEnded(needsRetryIn: .seconds(10))
    #expect(operation.retry(in: .seconds(20)))
    #expect(timers.count == 1 && timers.total == 2)
    timers.advance(by: .seconds(10))
    #expect(operation.runs.count == 1)
    #expect(operation.retry(in: .seconds(1)))
    timers.advance(by: .seconds(1))
    #expect(operation.runs.count == 2 && timers.count == 0)
  }

  @Test("new helpers replace the old ones, whose signals no longer count")
  func retryWithHelpers() {
    let (old, new) = (HelperProbe(), HelperProbe())
    let operation = AsynchronousProbe { _ in }
    operation.start()
    operation.baseOperationEnded(retryHelpers: [old])
    #expect(operation.retry(withHelpers: [new]))
    #expect(old.events.elements == ["up", "down"] && new.events.elements == ["up"])
    #expect(old.signals.elements.first?.retry() == false)
    #expect(operation.runs.count == 1)
    #expect(new.signals.elements.first?.retry() == true)
    #expect(operation.runs.count == 2)
    #expect(new.events.elements == ["up", "down"])
  }

  @Test("outside a wait, retry now only writes a log line")
  func outOfPlace() {
    let log = Record<String>()
    let timers = ManualTimers()
    let helper = HelperProbe()
    let operation = AsynchronousProbe(timers: timers, logger: { log.append($0) }) { _ in }
    func expectNothing(_ moment: String) {
      let (lines, runs) = (log.count, operation.runs.count)
      #expect(!operation.retryNow(), "\(moment)")
      #expect(!operation.retry(in: .zero), "\(moment)")
      #expect(!operation.retry(withHelpers: [helper]), "\(moment)")
      timers.advance(by: .seconds(1))
      #expect(log.count == lines + 3 && operation.runs.count == runs, "\(moment)")
      #expect(timers.total == 0 && helper.events.count == 0, "\(moment)")
    }
    expectNothing("before the start")
    operation.start()
    expectNothing("in the first run")
    operation.baseOperationEnded(retryHelpers: [])
    operation.retryNow()
    expectNothing("in the second run")
    operation.cancel()
    expectNothing("in a cancelled run")
    operation.baseOperationEnded()
    expectNothing("after the finish")
  }

  @Test("a retry that is requested during a synchronous run does not end the wait after it")
  func notHonouredLater() {
    let answers = Record<Bool>()
    let helper = HelperProbe()
    let operation = SynchronousProbe { probe in
      guard probe.numberOfRetries == 0 else { return probe.baseOperationEnded() }
      answers.append(probe.retryNow())
      concurrently([{ answers.append(probe.retryNow()) }, { answers.append(probe.retry(in: .zero)) }])
      probe.baseOperationEnded(retryHelpers: [helper])
    }
    let returned = operation.startOnThread()
    #expect(helper.signals.wait(for: 1))
    // The run that must not come would come from the thread that waits now.
    poll("it does not wait") { operation.kernelThreads.elements[0].isAsleep }
    #expect(answers.elements == [false, false, false])
    #expect(operation.runs.count == 1 && returned.count == 0)
    #expect(operation.retryNow())
    #expect(returned.wait(for: 1))
    #expect(operation.runs.count == 2)
  }

  @Test("retry now races the timer, and the operation runs only once more")
  func race() {
    var winners: [String: Int] = [:]
    for seed in UInt64(0)..<10_000 {
      var random = RandomSource(seed: seed)
      let timers = ManualTimers()
      let helper = HelperProbe()
      let wins = Record<String>()
      // The second run goes on, so that a retry too many would show in it or in the wait after it.
      let operation = AsynchronousProbe(timers: timers) { probe in
        if probe.numberOfRetries == 0 {
          probe.baseOperationEnded(retryHelpers: [helper, RetryTimer(.seconds(1), source: timers)])
        }
      }
      operation.start()
      let signal = helper.signals.elements[0]
      let line = StartingLine(3)
      let racers: [@Sendable () -> Void] = [
        { timers.advance(by: .seconds(1)) },
        { if operation.retryNow() { wins.append("told") } },
        { if signal.retry() { wins.append("helper") } },
      ]
      concurrently(
        racers.shuffled(using: &random).map { racer in
          let delay = random.next() % 64
          return {
            line.wait()
            spin(delay, then: racer)
          }
        })
      #expect(operation.runs.elements == [false, true], "seed \(seed)")
      #expect(operation.numberOfRetries == 1 && wins.count <= 1, "seed \(seed)")
      #expect(helper.events.elements == ["up", "down"] && timers.count == 0, "seed \(seed)")
      operation.baseOperationEnded(retryHelpers: [])
      #expect(operation.runs.count == 2 && operation.numberOfRetries == 1, "seed \(seed)")
      operation.cancel()
      winners[wins.elements.first ?? "timer", default: 0] += 1
    }
    // A race that the same one wins every time would be none.
    for racer in ["timer", "told", "helper"] { #expect(winners[racer, default: 0] > 0, "\(winners)") }
  }

  @Test("retry now races the timer of a synchronous operation, which runs only once more, 1,000 times")
  func synchronousRace() {
    for seed in UInt64(0)..<1000 {
      var random = RandomSource(seed: seed)
      let delays = (0..<2).map { _ in random.next() % 64 }
      let timers = ManualTimers()
      let helper = HelperProbe()
      let operation = SynchronousProbe(timers: timers) { probe in
        if probe.numberOfRetries == 0 {
          probe.baseOperationEnded(retryHelpers: [RetryTimer(.seconds(1), source: timers), helper])
        } else {
          probe.baseOperationEnded()
        }
      }
      let returned = operation.startOnThread()
      #expect(helper.signals.wait(for: 1))
      concurrently([
        { spin(delays[0]) { timers.advance(by: .seconds(1)) } }, { spin(delays[1]) { operation.retryNow() } },
      ])
      #expect(returned.wait(for: 1))
      #expect(operation.runs.elements == [false, true], "seed \(seed)")
      #expect(helper.events.elements == ["up", "down"] && timers.count == 0, "seed \(seed)")
    }
  }

  @Test(
    "if many threads replace the helpers of a wait, one set remains, and each is set up and torn down equally often")
  func replacementRace() {
    for round in 0..<500 {
      let helpers = (0..<6).map { _ in HelperProbe() }
      let operation = AsynchronousProbe { _ in }
      operation.start()
      operation.baseOperationEnded(retryHelpers: [])
      concurrently(helpers.map { helper in { operation.retry(withHelpers: [helper]) } })
      let up = helpers.filter { $0.events.elements == ["up"] }
      let over = helpers.filter { [[], ["up", "down"]].contains($0.events.elements) }
      #expect(up.count == 1 && over.count == 5, "round \(round)")
      #expect(up.first?.signals.elements.first?.retry() == true, "round \(round)")
      #expect(up.first?.events.elements == ["up", "down"], "round \(round)")
      operation.baseOperationEnded()
    }
  }
}

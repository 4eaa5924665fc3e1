import Dispatch
import Glibc
import RedialCore
import RedialModel
import Synchronization
import Testing

@testable import RedialTransport

@Suite("Names and their lookups")
struct NameTests {
  /// A resolver that knows one address, is slow for some names, and never answers for others before it is released.
  private final class Names: Sendable {
    let asked = Mutex<[String]>([])
    private let gate = Mutex(false)

    func resolve(_ name: String) -> NameLookup.Result {
      asked.withLock { $0.append(name) }
      if name.hasPrefix("dead") {
        while !gate.withLock({ $0 }) { usleep(10_000) }
        return .none
      }
      if name.hasPrefix("slow") { usleep(300_000) }
      if name.hasPrefix("nobody") { return .none }
      return .found(["127.0.0.1"])
    }

    func letGo() { gate.withLock { $0 = true } }
    func count(_ name: String) -> Int { asked.withLock { $0.filter { $0 == name }.count } }
  }

  private let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

  private func request(
    _ id: UInt64, _ name: String, _ port: Int, timeout: Duration = .seconds(20), redirects: Int = 0
  ) -> TransportRequest {
    TransportRequest(
      id: id, url: "http://\(name):\(port)/", method: "GET", timeout: timeout, captureLimit: 100,
      maxRedirects: redirects)
  }

  @Test("names that are never resolved delay no other attempt, neither while they wait nor at their end")
  func dead() throws {
    let names = Names()
    defer { names.letGo() }
    let target = ScriptedTarget.answering(ok)
    defer { target.stop() }
    let probe = try TransportProbe(resolve: names.resolve) { $0.connectTimeout = .seconds(2) }
    probe.transport.start((1...300).map { request($0, "dead\($0).test", target.port) })
    var worst = Duration.zero
    var good: UInt64 = 1000
    // Beyond the time at which all of them end.
    while probe.results(of: 1).isEmpty || good < 1020 {
      good += 1
      let asked = ContinuousClock.now
      probe.transport.start([request(good, "good.test", target.port)])
      while probe.results(of: good).isEmpty { usleep(1000) }
      #expect(probe.results(of: good).first?.status == 200)
      worst = max(worst, ContinuousClock.now - asked)
      usleep(20_000)
    }
    // The machine may be busy; but a transport that waits for a dead name waits until the end of this test.
    #expect(worst < .seconds(5), "\(worst)")
    let results = probe.wait(count: 300 + Int(good - 1000))
    for id in UInt64(1)...300 {
      let result = try #require(results[id]?.first)
      // It is unknown whether the tests' machine resolves names at all.
      #expect(["connectTimeout", "resolverUnavailable"].contains(result.failure?.code))
      let isLocal = result.failure?.code == "resolverUnavailable"
      #expect(result.outcome == (isLocal ? .localFault : .notSent))
      #expect(result.duration >= .milliseconds(1990))
      #expect(result.figures?.phase == .resolve)
    }
    #expect(names.asked.withLock { $0.count } <= 1 + 96)
  }

  @Test("attempts for one name share one lookup, and later ones need none")
  func shared() throws {
    let names = Names()
    let target = ScriptedTarget.answering(ok)
    defer { target.stop() }
    let probe = try TransportProbe(resolve: names.resolve)
    probe.transport.start((1...50).map { request($0, "Slow.test", target.port) })
    let results = probe.wait(count: 50)
    #expect(results.values.allSatisfy { $0.map(\.status) == [200] })
    #expect(probe.perform(request(99, "slow.TEST", target.port))?.status == 200)
    #expect(names.count("slow.test") == 1)
  }

  @Test("the time of the lookup is part of the attempt's time and of its figures")
  func times() throws {
    let target = ScriptedTarget { connection in
      _ = connection.readRequest()
      connection.waitForEnd()
    }
    defer { target.stop() }
    let probe = try TransportProbe(resolve: Names().resolve)
    let result = try #require(probe.perform(request(1, "slow.test", target.port, timeout: .milliseconds(800))))
    #expect(result.outcome == .maybeSent && result.failure?.code == "timeout")
    #expect(result.duration >= .milliseconds(780) && result.duration < .milliseconds(1080), "\(result.duration)")
    let figures = try #require(result.figures)
    #expect(figures.resolved >= 300_000 && figures.connected >= figures.resolved)
  }

  @Test("an attempt whose lookup takes too long ends at its own timeout, whichever that is")
  func bounds() throws {
    let names = Names()
    defer { names.letGo() }
    let short = try TransportProbe(resolve: names.resolve)
    let timedOut = try #require(short.perform(request(1, "dead.test", 1, timeout: .milliseconds(200))))
    #expect(["connectTimeout", "resolverUnavailable"].contains(timedOut.failure?.code))
    let silent = try TransportProbe(resolve: names.resolve) { $0.firstByteTimeout = .milliseconds(200) }
    let result = try #require(silent.perform(request(1, "dead.test", 1)))
    #expect(result.outcome == .notSent && result.failure?.code == "firstByteTimeout")
    let aborted = try TransportProbe(resolve: names.resolve)
    aborted.transport.start([request(1, "dead.test", 1), request(2, "dead.test", 1), request(3, "dead.test", 1)])
    aborted.transport.cancel([2])
    #expect(aborted.wait(count: 1).mapValues { $0.map(\.outcome) } == [2: [.cancelled]])
    aborted.transport.shutdown()
    #expect(
      aborted.wait(count: 2).mapValues { $0.map(\.outcome) } == [1: [.cancelled], 2: [.cancelled], 3: [.cancelled]])
  }

  @Test("an attempt whose lookup ends too late leaves the handle and the name in order")
  func late() throws {
    let names = Names()
    let target = ScriptedTarget.answering(ok)
    defer { target.stop() }
    let probe = try TransportProbe(resolve: names.resolve)
    #expect(probe.perform(request(1, "slow.test", target.port, timeout: .milliseconds(50)))?.status == nil)
    #expect(probe.perform(request(2, "slow.test", target.port))?.status == 200)
    #expect(probe.perform(request(3, "good.test", target.port))?.status == 200)
  }

  @Test("a redirect to another name works, with and without a body")
  func redirected() throws {
    let names = Names()
    let last = ScriptedTarget.answering(ok)
    defer { last.stop() }
    let first = ScriptedTarget.answering(
      "HTTP/1.1 307 Go\r\nLocation: http://slow.test:\(last.port)/x\r\nContent-Length: 0\r\n\r\n")
    defer { first.stop() }
    let probe = try TransportProbe(resolve: names.resolve)
    var moved = request(1, "good.test", first.port, redirects: 2)
    (moved.method, moved.body) = ("POST", [UInt8](repeating: 65, count: 100_000))
    let result = try #require(probe.perform(moved))
    #expect(result.status == 200 && result.figures?.redirects == 1)
    #expect(result.duration >= .milliseconds(300))
    #expect(names.asked.withLock { $0 } == ["good.test", "slow.test"])
  }

  @Test("the egress policy checks the address of a lookup")
  func policy() throws {
    let probe = try TransportProbe(resolve: Names().resolve) {
      $0.egress = EgressPolicy()
    }
    let result = try #require(probe.perform(request(1, "good.test", 80)))
    #expect(result.outcome == .blocked && result.failure?.code == "egressLoopback")
  }

  @Test("addresses and localhost need no lookup, and a name without an address has none")
  func none() throws {
    let names = Names()
    let target = ScriptedTarget.answering(ok)
    defer { target.stop() }
    let probe = try TransportProbe(resolve: names.resolve)
    for host in ["127.0.0.1", "localhost", "a.localhost", "2130706433"] {
      #expect(probe.perform(request(1, host, target.port))?.status == 200, "\(host)")
    }
    #expect(names.asked.withLock { $0 } == [])
    let code = probe.perform(request(2, "nobody.test", target.port))?.failure?.code
    #expect(["unknownHost", "resolverUnavailable"].contains(code))
  }

  @Test("an address expires in its time although all addresses are searched only at intervals")
  func forgotten() throws {
    let names = Names()
    let target = ScriptedTarget.answering("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")
    defer { target.stop() }
    let probe = try TransportProbe(resolve: names.resolve) {
      $0.nameCacheTime = .seconds(1)
    }
    let began = ContinuousClock.now
    for id in 1...40 {
      #expect(probe.perform(request(UInt64(id), "good.test", target.port))?.status == 200)
      #expect(probe.perform(request(UInt64(id), "127.0.0.1", target.port))?.status == 200)
      usleep(100_000)
    }
    let seconds = Int((ContinuousClock.now - began).components.seconds)
    // libcurl counts whole seconds.
    #expect(names.count("good.test") >= 3 && names.count("good.test") <= seconds + 2, "\(names.count("good.test"))")
  }

  @Test("all addresses are searched at most once a second")
  func pruning() {
    let pruning = AddressPruning()
    let began = ContinuousClock.now
    var due = 0
    while ContinuousClock.now - began < .milliseconds(1500) {
      if pruning.isDue() { due += 1 }
      usleep(10_000)
    }
    let seconds = Int((ContinuousClock.now - began).components.seconds)
    #expect(due >= 2 && due <= seconds + 1)
  }

  @Test("the system's resolver returns the addresses of this machine's own name")
  func system() {
    guard case .found(let addresses) = NameLookup.resolve("localhost") else {
      Issue.record("localhost has no address")
      return
    }
    #expect(Set(addresses).isSubset(of: ["127.0.0.1", "::1"]))
    #expect(NameLookup.resolve("redial-probe.invalid.") == .none)
  }
}

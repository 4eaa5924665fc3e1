import Polling
import Dispatch
import Glibc
import RedialCore
import RedialModel
import Synchronization
import Testing

@testable import RedialTransport

@Suite("Names and their lookups", .onThreads)
struct NameTests {
  /// A resolver that knows one address, is slow for some names, and does not answer for others before it is released.
  private final class Names: Sendable {
    /// How long a slow lookup takes.
    static let slowness = Duration.milliseconds(100)

    let asked = Mutex<[String]>([])
    private let gate = DispatchSemaphore(value: 0)

    func resolve(_ name: String) -> NameLookup.Result {
      asked.withLock { $0.append(name) }
      if name.hasPrefix("dead") || name.hasPrefix("late") {
        gate.wait()
        // The next one.
        gate.signal()
      }
      if name.hasPrefix("slow") { usleep(UInt32(Self.slowness.wholeMicroseconds)) }
      return name.hasPrefix("dead") || name.hasPrefix("nobody") ? .none : .found(["127.0.0.1"])
    }

    func letGo() { gate.signal() }
    func count(_ name: String) -> Int { asked.withLock { $0.filter { $0 == name }.count } }
  }

  private let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

  private func request(
    _ id: UInt64, _ name: String, _ port: Int, timeout: Duration = forever, redirects: Int = 0
  ) -> TransportRequest {
    TransportRequest(
      id: id, url: "http://\(name):\(port)/", method: "GET", timeout: timeout, captureLimit: 100,
      maxRedirects: redirects)
  }

  @Test(
    "names that are never resolved delay no other attempt, neither while they wait nor at their end",
    arguments: [forever, .milliseconds(400)])
  func dead(timeout: Duration) throws {
    let names = Names()
    defer { names.letGo() }
    let target = ScriptedTarget.answering(ok)
    defer { target.stop() }
    let probe = try TransportProbe(resolve: names.resolve) { $0.connectTimeout = forever }
    probe.transport.start((1...300).map { request($0, "dead\($0).test", target.port, timeout: timeout) })
    let dead = UInt64(1)...300
    var good: UInt64 = 1000
    // An attempt that waited for a dead name would wait until the end of this test.
    repeat {
      good += 1
      probe.transport.start([request(good, "good\(good % 2).test", target.port)])
      poll("\(good) has no result") { !probe.results(of: good).isEmpty }
      try #require(probe.results(of: good).first?.status == 200)
    } while good < 1020 || timeout < forever && dead.contains { probe.results(of: $0).isEmpty }
    for id in dead where timeout < forever {
      let result = try #require(probe.results(of: id).first)
      // It is unknown whether the tests' machine resolves names at all.
      #expect(["connectTimeout", "resolverUnavailable"].contains(result.failure?.code))
      let isLocal = result.failure?.code == "resolverUnavailable"
      #expect(result.outcome == (isLocal ? .localFault : .notSent))
      #expect(result.duration >= timeout - .milliseconds(10))
      #expect(result.figures?.phase == .resolve)
    }
    #expect(timeout < forever || dead.allSatisfy { probe.results(of: $0).isEmpty })
    #expect(names.asked.withLock { $0.filter { $0.hasPrefix("dead") }.count } <= 96)
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

  @Test("a resolver that cannot say is not the target's fault, and one that says no is no resolver's")
  func unknown() throws {
    let probe = try TransportProbe(resolve: { $0.hasPrefix("lost") ? .unknown : .none })
    let lost = probe.perform(request(1, "lost.test", 1))
    #expect(lost?.outcome == .localFault && lost?.failure?.code == "resolverUnavailable")
  }

  @Test("after an address that did not answer, the next attempt begins with another one")
  func silentAddress() throws {
    let target = ScriptedTarget { connection in
      _ = connection.readRequest()
      connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
    }
    defer { target.stop() }
    let silent = try #require(FullQueue(host: 0x7F00_0002, port: target.port))
    let asked = Atomic(0)
    let probe = try TransportProbe(resolve: { _ in
      asked.add(1, ordering: .relaxed)
      return .found(["127.0.0.2", "127.0.0.1"])
    }) {
      $0.connectTimeout = .seconds(2)
      $0.nameCacheTime = .seconds(1)
    }
    let first = probe.perform(request(1, "two.test", silent.port))
    #expect(first?.status == 200 || first?.failure?.code == "connectTimeout", "\(String(describing: first))")
    #expect(LibCurl.needsFreshHandles || first?.status == 200)
    for round in 0..<3 {
      let next = probe.perform(request(2, "two.test", silent.port))
      #expect(next?.status == 200, "\(String(describing: next))")
      // It stays so when the addresses are looked up again.
      if round == 1 { usleep(2_010_000) }
    }
    #expect(asked.load(ordering: .relaxed) >= 2)
  }

  @Test("the time of the lookup is part of the attempt's time and of its figures")
  func times() throws {
    let target = ScriptedTarget { connection in
      _ = connection.readRequest()
      connection.waitForEnd()
    }
    defer { target.stop() }
    // If the lookup had its own time, each attempt would take at least that much longer. A busy machine may do the same to
    // some, but not to all.
    let timeout = Names.slowness * 2
    var last: AttemptResult?
    try poll("\(String(describing: last))") {
      let probe = try TransportProbe(resolve: Names().resolve)
      last = probe.perform(request(1, "slow.test", target.port, timeout: timeout))
      return last.map { $0.outcome == .maybeSent && $0.duration < timeout + Names.slowness } == true
    }
    let result = try #require(last)
    #expect(result.outcome == .maybeSent && result.failure?.code == "timeout")
    #expect(result.duration >= timeout - .milliseconds(20))
    let figures = try #require(result.figures)
    #expect(figures.resolved >= Names.slowness.wholeMicroseconds && figures.connected >= figures.resolved)
  }

  @Test("an attempt whose lookup takes too long ends at its own timeout, whichever that is")
  func bounds() throws {
    let names = Names()
    defer { names.letGo() }
    let short = try TransportProbe(resolve: names.resolve)
    let timedOut = try #require(short.perform(request(1, "dead.test", 1, timeout: .milliseconds(200))))
    #expect(["connectTimeout", "resolverUnavailable"].contains(timedOut.failure?.code))
    let unconnected = try TransportProbe(resolve: names.resolve) { $0.connectTimeout = .milliseconds(200) }
    let tooLate = try #require(unconnected.perform(request(1, "dead.test", 1)))
    #expect(["connectTimeout", "resolverUnavailable"].contains(tooLate.failure?.code))
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
    let ended = try #require(probe.perform(request(1, "late.test", target.port, timeout: .milliseconds(50))))
    #expect(ended.status == nil)
    names.letGo()
    #expect(probe.perform(request(2, "late.test", target.port))?.status == 200)
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
    #expect(result.duration >= Names.slowness)
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
    var id: UInt64 = 0
    poll("\(names.count("good.test")) lookups") {
      id += 1
      #expect(probe.perform(request(id, "good.test", target.port))?.status == 200)
      #expect(probe.perform(request(id, "127.0.0.1", target.port))?.status == 200)
      return names.count("good.test") == 3
    }
    // libcurl counts whole seconds.
    #expect(ContinuousClock.now - began >= .seconds(1))
  }

  @Test("all addresses are searched at most once a second")
  func pruning() {
    let pruning = AddressPruning()
    let began = ContinuousClock.now
    let due = (0...250).filter { pruning.isDue(at: began + .milliseconds(10 * $0)) }
    #expect(due == [0, 100, 200])
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

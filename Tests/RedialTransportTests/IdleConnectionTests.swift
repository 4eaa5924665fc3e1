import Dispatch
import Glibc
import RedialCore
import RedialModel
import Synchronization
import Testing

@testable import RedialTransport

@Suite("Idle connections")
struct IdleConnectionTests {
  private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

  @Test("slow targets do not cost fast ones their connections, however many attempts are in flight")
  func besideSlow() throws {
    let fast = ScriptedTarget.answering(Self.ok)
    let slow = ScriptedTarget { $0.waitUntilAborted() }
    defer {
      fast.stop()
      slow.stop()
    }
    let probe = try TransportProbe { $0.maxIdleConnections = 4 }
    let url = slow.url
    probe.transport.start(
      (100..<140).map { TransportRequest(id: $0, url: url, method: "GET", timeout: .seconds(60), captureLimit: 9) })
    for turn in 0..<20 {
      let result = probe.perform(fast.url)
      #expect(result?.status == 200 && result?.figures?.isReused == (turn > 0), "turn \(turn)")
    }
    #expect(fast.connectionCount == 1)
  }

  @Test("no more idle connections are kept than the limit")
  func bound() throws {
    let ended = DispatchSemaphore(value: 0)
    let targets = (0..<12).map { _ in
      ScriptedTarget { connection in
        while connection.readRequest() != nil, connection.send(Self.ok) {}
        ended.signal()
      }
    }
    defer { for target in targets { target.stop() } }
    let probe = try TransportProbe { $0.maxIdleConnections = 4 }
    for target in targets { #expect(probe.perform(target.url)?.status == 200) }
    for _ in 0..<7 { #expect(ended.wait(timeout: .now() + .seconds(20)) == .success) }
    // The last is still there.
    #expect(targets.last.map { probe.perform($0.url)?.figures?.isReused } == true)
  }

  @Test("a connection that was idle for too long is not reused, and others are")
  func idleTime() throws {
    let target = ScriptedTarget.answering(Self.ok)
    defer { target.stop() }
    let probe = try TransportProbe { $0.maxConnectionAge = .seconds(1) }
    #expect(probe.perform(target.url)?.figures?.isReused == false)
    #expect(probe.perform(target.url)?.figures?.isReused == true)
    // libcurl counts whole seconds, by a clock that nothing else sets.
    usleep(2_200_000)
    #expect(probe.perform(target.url)?.figures?.isReused == false)
    #expect(target.connectionCount == 2)
  }

  @Test("a target has no more connections than its limit, and other attempts wait for one")
  func perTarget() throws {
    let gate = DispatchSemaphore(value: 0)
    let target = ScriptedTarget { connection in
      while connection.readRequest() != nil {
        gate.wait()
        guard connection.send(Self.ok) else { return }
      }
    }
    defer { target.stop() }
    let probe = try TransportProbe { $0.maxConnectionsPerTarget = 3 }
    let url = target.url
    probe.transport.start(
      (100..<112).map { TransportRequest(id: $0, url: url, method: "GET", timeout: .seconds(60), captureLimit: 9) })
    for _ in 0..<12 { gate.signal() }
    let results = probe.wait(count: 12)
    #expect(results.count == 12 && results.values.allSatisfy { $0.last?.status == 200 })
    #expect(target.connectionCount == 3)
  }
}

import Dispatch
import Glibc
import RedialCore
import RedialModel
import Synchronization
import Testing

@testable import RedialTransport

@Suite("Idle connections", .onThreads)
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
    let probe = try TransportProbe {
      $0.maxIdleConnections = 4
      $0.maxConnectionIdleTime = forever
    }
    let url = slow.url
    probe.transport.start(
      (100..<140).map { TransportRequest(id: $0, url: url, method: "GET", timeout: forever, captureLimit: 9) })
    for round in 0..<20 {
      let result = probe.perform(fast.url)
      #expect(result?.status == 200 && result?.figures?.isReused == (round > 0), "round \(round)")
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
    let probe = try TransportProbe {
      $0.maxIdleConnections = 4
      $0.maxConnectionIdleTime = forever
    }
    for target in targets {
      #expect(probe.perform(target.url)?.status == 200)
      // libcurl closes the oldest, and compares milliseconds: of those of one millisecond it closes any.
      usleep(2000)
    }
    for _ in 0..<7 { #expect(ended.wait(timeout: .now() + .seconds(60)) == .success) }
    // The last is still there.
    #expect(targets.last.map { probe.perform($0.url)?.figures?.isReused } == true)
  }

  @Test("connections end when nothing was in flight for as long as one may be idle, and new ones are made then")
  func quiet() throws {
    let ended = DispatchSemaphore(value: 0)
    let target = ScriptedTarget { connection in
      while connection.readRequest() != nil, connection.send(Self.ok) {}
      ended.signal()
    }
    defer { target.stop() }
    let probe = try TransportProbe { $0.maxConnectionIdleTime = .milliseconds(200) }
    for round in 1...2 {
      #expect(probe.perform(target.url)?.status == 200)
      // Nothing else happens in the transport.
      #expect(ended.wait(timeout: .now() + .seconds(60)) == .success)
      #expect(target.connectionCount == round)
    }
  }

  @Test("a connection that was idle for too long is not reused, and others are")
  func idleTime() throws {
    let target = ScriptedTarget.answering(Self.ok)
    defer { target.stop() }
    for (age, isReused) in [(Duration.seconds(1), false), (forever, true)] {
      let probe = try TransportProbe { $0.maxConnectionIdleTime = age }
      #expect(probe.perform(target.url)?.figures?.isReused == false)
      // libcurl counts whole seconds, by a clock that nothing else sets: it takes two for more than one.
      if !isReused { usleep(2_010_000) }
      #expect(probe.perform(target.url)?.figures?.isReused == isReused)
    }
    #expect(target.connectionCount == 3)
  }
}

import Dispatch
import Glibc
import RedialCore
import RedialModel
import Synchronization
import Testing

@testable import RedialTransport

@Suite("The life of a transport", .onThreads)
struct LifeTests {
  private func request(_ id: UInt64, _ url: String) -> TransportRequest {
    TransportRequest(id: id, url: url, method: "GET", timeout: forever, captureLimit: 100)
  }

  /// A target that never answers, and reports when a request has arrived and when its client has left.
  private func silent(_ came: DispatchSemaphore, _ went: DispatchSemaphore) -> ScriptedTarget {
    ScriptedTarget { connection in
      guard connection.readRequest() != nil else { return }
      came.signal()
      connection.waitForEnd()
      went.signal()
    }
  }

  private func happens(_ semaphore: DispatchSemaphore) -> Bool {
    semaphore.wait(timeout: .now() + .seconds(60)) == .success
  }

  @Test("each of many requests at a time has exactly one result")
  func many() throws {
    let target = ScriptedTarget.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    defer { target.stop() }
    let probe = try TransportProbe()
    for batch in 0..<10 { probe.transport.start((0..<20).map { request(UInt64(batch * 20 + $0), target.url) }) }
    let results = probe.wait(count: 200)
    #expect(results.count == 200)
    #expect(results.values.allSatisfy { $0.count == 1 && $0[0].status == 200 })
  }

  @Test("cancelling aborts a request at once, and no other")
  func cancel() throws {
    let (came, went) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let target = silent(came, went)
    defer { target.stop() }
    let probe = try TransportProbe()
    probe.transport.start([request(1, target.url), request(2, target.url)])
    #expect(happens(came) && happens(came))
    probe.transport.cancel([1, 77])
    let results = probe.wait(count: 1)
    #expect(results.mapValues { $0.map(\.outcome) } == [1: [.cancelled]])
    #expect(happens(went))
    probe.transport.cancel([1, 2])
    #expect(probe.wait(count: 1).mapValues { $0.map(\.outcome) } == [1: [.cancelled], 2: [.cancelled]])
  }

  @Test("requests are made on the thread that sends them, once")
  func makes() throws {
    let target = ScriptedTarget.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    defer { target.stop() }
    let threads = Mutex<(making: [UInt], ending: [UInt])>(([], []))
    let ended = DispatchSemaphore(value: 0)
    let transport = try Transport(configuration: TransportConfiguration(userAgent: "redial/test")) { results in
      threads.withLock { threads in threads.ending += results.map { _ in UInt(pthread_self()) } }
      for _ in results { ended.signal() }
    }
    defer { transport.shutdown() }
    let requests = (1...3).map { request($0, target.url) }
    transport.start {
      threads.withLock { $0.making.append(UInt(pthread_self())) }
      return requests
    }
    for _ in requests { #expect(happens(ended)) }
    let (making, ending) = threads.withLock { $0 }
    #expect(making.count == 1)
    #expect(ending == Array(repeating: making[0], count: 3))
    #expect(making[0] != UInt(pthread_self()))
  }

  @Test("a request that is made later can be cancelled before it is")
  func cancelsWhatIsMade() throws {
    let (came, went) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let target = silent(came, went)
    defer { target.stop() }
    let probe = try TransportProbe()
    let mayMake = DispatchSemaphore(value: 0)
    let late = request(1, target.url)
    probe.transport.start {
      mayMake.wait()
      return [late]
    }
    probe.transport.cancel([1])
    mayMake.signal()
    #expect(probe.wait(count: 1).mapValues { $0.map(\.outcome) } == [1: [.cancelled]])
  }

  @Test("requests that a transport makes after its end have a result too")
  func makesAfterShutdown() throws {
    let probe = try TransportProbe()
    let made = request(7, "http://127.0.0.1:1/")
    // The transport has ended when this has its result, or it is among the messages that it leaves.
    probe.transport.shutdown()
    probe.transport.start { [made] }
    #expect(probe.wait(count: 1)[7]?.map(\.outcome) == [.cancelled])
  }

  @Test("shutting down aborts everything, and later requests have a result too")
  func shutdown() throws {
    let (came, went) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let target = silent(came, went)
    defer { target.stop() }
    let probe = try TransportProbe()
    probe.transport.start([request(1, target.url)])
    #expect(happens(came))
    probe.transport.shutdown()
    #expect(probe.wait(count: 1)[1]?.map(\.outcome) == [.cancelled])
    probe.transport.start([request(2, target.url)])
    #expect(probe.wait(count: 1)[2]?.map(\.outcome) == [.cancelled])
    #expect(happens(went))
  }

  @Test("the blocking client makes one exchange")
  func blocking() {
    let target = ScriptedTarget.answering("HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok")
    defer { target.stop() }
    let result = BlockingHTTPClient.perform(request(9, target.url))
    #expect(result.status == 201 && result.body == Array("ok".utf8))
  }
}

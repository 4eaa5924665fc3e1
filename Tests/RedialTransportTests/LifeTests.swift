import Dispatch
import RedialCore
import RedialModel
import Testing

@testable import RedialTransport

@Suite("The life of a transport")
struct LifeTests {
  private func request(_ id: UInt64, _ url: String) -> TransportRequest {
    TransportRequest(id: id, url: url, method: "GET", timeout: .seconds(20), captureLimit: 100)
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
    semaphore.wait(timeout: .now() + .seconds(10)) == .success
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

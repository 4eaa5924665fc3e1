import Foundation
import HTTPServer
import Redial
import RedialTestSupport
import Synchronization
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("Cancellation", .timeLimit(.minutes(5)))
struct CallCancellationTests {
  @Test("a task cancelled during a wait is reported as cancelled, and sends nothing more")
  func duringWait() async throws {
    let calls = Calls(.manual)
    let server = try LocalServer(.status(503, [HTTPHeader("Retry-After", "3000")]), .ok())
    let request = try server.request()
    let task = Task { await calls.failure(of: request, calls.options()) }
    await calls.clock.waitForSleepers(1)
    task.cancel()
    #expect(await task.value?.kind == "cancelled")
    #expect(server.count == 1)
    #expect(calls.lines.list.last?.hasSuffix("cancelled after 1 attempt") == true)
  }

  @Test("a task cancelled during an attempt is reported as cancelled", arguments: ["data", "download", "stream"])
  func duringAttempt(_ form: String) async throws {
    let calls = Calls()
    let begun = AsyncStream<Void>.makeStream()
    let server = try LocalServer { _ in
      begun.continuation.finish()
      return .silence
    }
    let request = try server.request()
    let task = Task {
      switch form {
      case "data": await calls.failure(of: request, calls.options())
      case "download":
        await calls.failure { try await calls.session.download(for: request, retrying: calls.options()) }
      default: await calls.failure { try await calls.session.stream(for: request, retrying: calls.options()) }
      }
    }
    for await _ in begun.stream {}
    task.cancel()
    #expect(await task.value?.kind == "cancelled")
    #expect(server.count == 1)
  }

  @Test("a task cancelled before it begins sends nothing")
  func before() async throws {
    let calls = Calls()
    let server = try LocalServer(.ok())
    let request = try server.request()
    let gate = AsyncStream<Void>.makeStream()
    let task = Task {
      for await _ in gate.stream {}
      return await calls.failure(of: request, calls.options())
    }
    task.cancel()
    gate.continuation.finish()
    #expect(await task.value?.kind == "cancelled")
    #expect(server.count == 0)
  }

  @Test("a cancelled stream reports cancellation to its reader, not a normal end")
  func duringStream() async throws {
    let calls = Calls()
    let server = ScriptedServer { connection, _ in
      guard connection.readHead() else { return }
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nfirst")
      connection.waitForEnd()
    }
    let request = URLRequest(url: try LocalServer.url(server.url))
    let (chunks, _) = try await calls.session.stream(for: request, retrying: calls.options())
    let first = AsyncStream<Void>.makeStream()
    let task = Task {
      await calls.failure {
        for try await _ in chunks { first.continuation.finish() }
      }
    }
    for await _ in first.stream {}
    task.cancel()
    #expect(await task.value?.kind == "cancelled")
  }

  @Test("a call by callback cancelled during a wait reports it once")
  func callback() async throws {
    let calls = Calls(.manual)
    let server = try LocalServer(.status(503))
    let request = try server.request()
    let told = AsyncStream<String>.makeStream()
    let call = calls.session.perform(request, retrying: calls.options()) { result in
      if case .failure(let error) = result { told.continuation.yield(error.kind) }
    }
    await calls.clock.waitForSleepers(1)
    call.cancel()
    call.cancel()
    var reader = told.stream.makeAsyncIterator()
    #expect(await reader.next() == "cancelled")
    call.cancel()
    #expect(server.count == 1)
  }

  @Test("a hook that cancels makes the call cancelled")
  func hook() async throws {
    let calls = Calls()
    let server = try LocalServer(.ok())
    let options = calls.options { $0.authenticate = { _, _ in throw CancellationError() } }
    #expect(try await calls.failure(of: server.request(), options)?.kind == "cancelled")
    #expect(server.count == 0)
  }
}

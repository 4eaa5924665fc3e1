import Foundation
import HTTPServer
@testable import RedialClient
import RedialTestSupport
import Testing

@Suite("Events of the service", .timeLimit(.minutes(5)))
struct EventStreamTests {
  private static func event(_ number: Int, _ type: String = "target.opened") -> String {
    """
    id: a-\(number)
    event: \(type)
    data: {"type":"\(type)","timestamp":"2026-12-01T09:00:00.000Z",\
    "data":{"key":"t\(number)","breaker":{"state":"open","openUntil":null,"trips":1}}}


    """
  }

  @Test("a parser finds events in bytes that come in any pieces, with any ends of lines")
  func parsing() {
    let text = ": hello\nid: 1\nevent: a\ndata: x\ndata:y\n\nid: 2\n\ndata: z\nretry: 5\nunknown\n\n"
    for lineEnd in ["\n", "\r\n", "\r"] {
      let bytes = Data(text.replacingOccurrences(of: "\n", with: lineEnd).utf8)
      for size in 1...bytes.count {
        var parser = EventParser()
        var found: [EventParser.Message] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
          found += parser.feed(bytes[start..<min(bytes.count, start + size)]) ?? []
        }
        #expect(
          found == [.init(id: "1", type: "a", data: "x\ny"), .init(id: "2", type: "", data: "z")], "\(size)")
        #expect(parser.lastID == "2")
      }
    }
    var parser = EventParser()
    #expect(parser.feed(Data(repeating: 0x78, count: EventParser.longest + 1)) == nil)
  }

  @Test("a stream that ends continues after the latest event, and a first refusal is retried")
  func again() async throws {
    try await ScriptedService.run { _, number in
      switch number {
      case 1: .problem(503, retryAfter: 1)
      case 2: .answer(HTTPResponse(status: 200, text: Self.event(1) + Self.event(2) + "id: a-9\n\n"))
      case 3: .answer(HTTPResponse(status: 200, text: ": nothing\n\n"))
      default: .answer(HTTPResponse(status: 200, text: Self.event(10)))
      }
    } body: { url, service in
      var client = RedialClient(url, apiKey: "secret")
      client.clock = TestClock()
      var events = client.events(EventFilter(type: [.targetOpened], label: .init("a b", "c"), kind: .webhook))
        .makeAsyncIterator()
      var ids: [String] = []
      while ids.count < 3, let event = try await events.next() { ids.append(event.id) }
      #expect(ids == ["a-1", "a-2", "a-10"])
      let requests = service.requests
      #expect(requests.map { $0.headers["last-event-id"] } == [nil, nil, "a-9", "a-9"])
      #expect(
        requests.allSatisfy { $0.query == "type=target.opened&label=a%20b%3Dc&kind=webhook" && $0.path == "/v1/events" }
      )
      #expect(requests.allSatisfy { $0.authorization == "Bearer secret" })
    }
  }

  @Test("an endpoint that is disabled is named, with the reason")
  func endpoint() async throws {
    let data =
      #"{"type":"endpoint.disabled","timestamp":"2026-12-01T09:00:00.000Z","data":{"id":"whe_1","url":"https://a/","description":"","disabledReason":"gone","enabled":false}}"#
    try await ScriptedService.run { _, _ in
      .answer(HTTPResponse(status: 200, text: "id: a-1\nevent: endpoint.disabled\ndata: \(data)\n\n"))
    } body: { url, _ in
      var events = RedialClient(url).events().makeAsyncIterator()
      let event = try await events.next()
      #expect(event?.type == .endpointDisabled)
      #expect(event?.subject == .endpoint(id: "whe_1", url: "https://a/", disabledReason: "gone"))
    }
  }

  @Test("a refusal is thrown as a problem, a line that is not an event as an error, and redirects are not followed")
  func refused() async throws {
    for (act, isProblem) in [
      (ScriptedService.Act.problem(403), true),
      (.answer(HTTPResponse(status: 307, headers: [HTTPHeader("location", "/elsewhere")], body: [])), true),
      (.answer(HTTPResponse(status: 200, text: "data: {}\n\n")), false),
    ] {
      try await ScriptedService.run { _, _ in
        act
      } body: { url, service in
        var events = RedialClient(url).events().makeAsyncIterator()
        do {
          _ = try await events.next()
          Issue.record("an event")
        } catch {
          #expect(isProblem ? error is RedialProblem : error is UnexpectedAnswer, "\(error)")
        }
        #expect(service.requests.count == 1)
      }
    }
  }

  @Test("a real service sends a call's events, and a cancelled listener stops")
  func story() async throws {
    try await withService { client in
      try await ScriptedService.run { _, number in
        .answer(HTTPResponse(status: number % 2 == 1 ? 503 : 200, text: "ok"))
      } body: { url, _ in
        let policy = CallPolicy(backoff: .constant(.milliseconds(10)))
        let events = Task {
          var events: [RedialEvent] = []
          for try await event in client.events(EventFilter(label: .init("test", "story"))) {
            events.append(event)
            if event.type == .callSucceeded { break }
          }
          return events
        }
        // Nobody says when the listener is there, so calls are made until one is heard; the service tells nobody of a
        // call that was accepted before.
        let calls = Task {
          while !Task.isCancelled {
            let call = OutgoingCall(url, policy: policy, labels: ["test": "story"])
            _ = try await client.submitAndWait(call)
          }
        }
        let heard = try await events.value
        calls.cancel()
        #expect(heard.allSatisfy { $0.call?.labels == ["test": "story"] && !$0.id.isEmpty })
        #expect(heard.last?.type == .callSucceeded && heard.last?.attempt == nil)
        #expect(heard.contains { $0.type == .callAttempted && $0.attempt?.outcome == .answered })

        let heardLater = Notes<String>()
        let listening = Task {
          for try await event in client.events() { heardLater.add(event.id) }
        }
        while heardLater.count == 0 { _ = try await client.submitAndWait(OutgoingCall(url, policy: policy)) }
        listening.cancel()
        await #expect(throws: CancellationError.self) { try await listening.value }
      }
    }
  }
}

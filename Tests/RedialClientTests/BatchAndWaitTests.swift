import Foundation
import HTTPServer
import RedialClient
import RedialTestSupport
import Testing

@Suite("Many calls, and waiting for one", .timeLimit(.minutes(5)))
struct BatchAndWaitTests {
  @Test("a batch accepts what it can, refuses the rest by itself, and is recognized when it comes again")
  func batch() async throws {
    try await withService { client in
      let later = OutgoingCall.Start.after(.seconds(3600))
      var calls = (0..<1203).map { OutgoingCall(loopback(1), start: later, labels: ["number": "\($0)"]) }
      calls[700].method = "CONNECT"
      let key = UUID().uuidString
      let results = try await client.submit(batch: calls, idempotencyKey: key)
      #expect(results.count == 1203)
      for (number, result) in results.enumerated() {
        switch result {
        case .success(let submitted): #expect(submitted.call.labels == ["number": "\(number)"])
        case .failure(let problem):
          #expect(number == 700 && problem.code == "invalidDescriptor" && problem.errors.map(\.pointer) == ["/method"])
        }
      }
      let again = try await client.submit(batch: calls, idempotencyKey: key)
      #expect(again.map { try? $0.get().id } == results.map { try? $0.get().id })
      #expect(try results[501].get().idempotencyKey == "\(key).500/1")
      #expect(try await client.submit(batch: []).isEmpty)
    }
  }

  @Test("a submit with a key of one's own is the same call when it comes again")
  func ownKey() async throws {
    try await withService { client in
      let call = OutgoingCall(loopback(1), start: .after(.seconds(3600)))
      let first = try await client.submit(call, idempotencyKey: "order-4711")
      let again = try await client.submit(call, idempotencyKey: "order-4711")
      #expect(first.id == again.id && again.idempotencyKey == "order-4711")
      let other = await #expect(throws: RedialProblem.self) {
        try await client.submit(OutgoingCall(loopback(2)), idempotencyKey: "order-4711")
      }
      #expect(other?.status == 422 || other?.status == 409)
    }
  }

  /// Runs a body with a client whose requests are counted.
  private static func counted(
    _ client: RedialClient, _ body: (RedialClient) async throws -> Void
  ) async throws -> Int {
    let requests = Notes<String>()
    var counting = client
    counting.log = { if $0.contains("attempt 1 begins") { requests.add($0) } }
    try await body(counting)
    return requests.count
  }

  @Test("a quick call is submitted and awaited in one request; a slower one in two or three, however long it takes")
  func waiting() async throws {
    try await withService { client in
      try await ScriptedService.run { request, number in
        .answer(HTTPResponse(status: number % 4 == 0 ? 200 : 503, text: "ok"))
      } body: { url, _ in
        let policy = CallPolicy(backoff: .constant(.milliseconds(100)))
        let one = try await Self.counted(client) { client in
          let call = try await client.submitAndWait(OutgoingCall(url, policy: policy))
          #expect(call.state == .succeeded)
        }
        #expect(one == 1)
        let two = try await Self.counted(client) { client in
          let id = try await client.submit(OutgoingCall(url, policy: policy)).id
          let call = try await client.result(of: id)
          #expect(call.attemptCount == 4)
        }
        #expect(two == 2, "0.3 s without a second look")
      }
    }
  }

  @Test("a limit ends the wait in time, and thirty waits delay no other request")
  func limit() async throws {
    try await withService { client in
      let id = try await client.submit(OutgoingCall(loopback(1), start: .after(.seconds(3600)))).id
      let requests = try await Self.counted(client) { client in
        let error = await #expect(throws: CallUnfinished.self) {
          try await client.result(of: id, within: .milliseconds(300))
        }
        #expect(error?.call.state == .scheduled)
      }
      #expect(requests <= 2)
      let held = Notes<String>()
      var counting = client
      counting.log = { if $0.contains("attempt 1 begins") { held.add($0) } }
      let waiting = (0..<30).map { [counting] _ in Task { try await counting.result(of: id) } }
      #expect(await eventually { held.count == 30 })
      #expect(try await client.call(id).state == .scheduled)
      try await client.cancel(id)
      for task in waiting { #expect(try await task.value.state == .cancelled) }
      // Each had one request, which the service would have held for 20 s: no other request waited until one of them ended.
      #expect(held.count == 30)
    }
  }

  @Test("a service that holds nothing back for so long is asked again and again instead")
  func refusedWait() async throws {
    try await ScriptedService.run { request, number in
      if request.query != nil {
        return .answer(
          HTTPResponse(
            status: 400,
            text:
              #"{"code":"invalidParameter","title":"t","detail":"d","errors":[{"parameter":"wait","detail":"is long"}]}"#
          )
        )
      }
      return .call(number > 4 ? .succeeded : .running)
    } body: { url, service in
      var client = RedialClient(url)
      let clock = TestClock()
      client.clock = clock
      let call = try await client.result(of: "call_1")
      #expect(call.state == .succeeded)
      #expect(service.requests.map(\.query) == ["wait=20s", nil, nil, nil, nil] && clock.waits.count == 3)
    }
  }

  @Test("a webhook of the service is accepted, and one with another secret is refused")
  func webhook() async throws {
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    try await withService(webhookSecret: secret) { client in
      try await ScriptedService.run { _, _ in
        .answer(HTTPResponse(status: 200, text: "ok"))
      } body: { url, target in
        var call = OutgoingCall(url)
        call.callback = OutgoingCall.Callback(url)
        let done = try await client.submitAndWait(call)
        #expect(await eventually { target.requests.contains { $0.headers["webhook-id"] != nil } })
        let request = try #require(target.requests.first { $0.headers["webhook-id"] != nil })
        let event = try WebhookVerifier(secret: secret).verify(Data(request.body), headers: request.headers)
        #expect(event.type == .callSucceeded && event.call?.id == done.id && event.call?.attempts.count == 1)
        #expect(throws: WebhookRejected.self) {
          try WebhookVerifier(secret: "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA").verify(
            Data(request.body), headers: request.headers)
        }
      }
    }
  }
}

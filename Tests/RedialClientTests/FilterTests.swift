import Foundation
import HTTPServer
import RedialClient
import Testing

@Suite("Calls that are found by conditions", .timeLimit(.minutes(5)))
struct FilterTests {
  private static func listed(_ client: RedialClient, _ filter: CallFilter) async throws -> [String] {
    var found: [String] = []
    for try await call in client.calls(filter, pageSize: 1) { found.append(call.id) }
    return found
  }

  @Test("each condition finds the calls for which it holds")
  func conditions() async throws {
    try await withService(webhookSecret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw") { client in
      try await ScriptedService.run { request, _ in
        .answer(HTTPResponse(status: request.path == "/missing" ? 404 : 200, text: "ok"))
      } body: { url, _ in
        var call = OutgoingCall(url, labels: ["team": "a&b=ü", "n:o": "1"])
        call.callback = OutgoingCall.Callback(url)
        let good = try await client.submitAndWait(call, idempotencyKey: #"order, 7 "\x""#)
        let between = Date()
        let bad = try await client.submitAndWait(
          OutgoingCall(url.appendingPathComponent("missing"), labels: ["n:o": "1"]))
        let lost = try await client.submitAndWait(
          OutgoingCall(loopback(unusedPort()), policy: CallPolicy(maxAttempts: 1)))
        let expected: [(CallFilter, [RedialCall])] = [
          (CallFilter(state: [.succeeded]), [good]), (CallFilter(state: [.failed]), [lost, bad]),
          (CallFilter(labels: ["n:o": "1"]), [bad, good]), (CallFilter(labels: ["n:o": "1", "team": "a&b=ü"]), [good]),
          (CallFilter(createdBefore: between), [good]), (CallFilter(createdAfter: between), [lost, bad]),
          (CallFilter(attempts: 1), [lost, bad, good]), (CallFilter(attempts: 2), []),
          (CallFilter(olderThan: .seconds(86_400)), []),
          (CallFilter(status: 400...499), [bad]), (CallFilter(status: 200...200), [good]),
          (CallFilter(outcome: .notSent), [lost]), (CallFilter(outcome: .answered), [bad, good]),
          (CallFilter(failureReason: .notRetryable), [bad]), (CallFilter(url: "MISSING"), [bad]),
          (CallFilter(idempotencyKey: #"order, 7 "\x""#), [good]), (CallFilter(kind: .call), [lost, bad, good]),
        ]
        for (filter, calls) in expected {
          #expect(try await Self.listed(client, filter) == calls.map(\.id), "\(filter)")
        }
        var deliveries = client.calls(CallFilter(kind: .webhook)).makeAsyncIterator()
        let delivery = try #require(try await deliveries.next())
        #expect(delivery.kind == .webhook && good.kind == .call && delivery.url == url.absoluteString)
      }
    }
  }

  @Test("a time that the service cannot read is named, and nothing is sent")
  func unsupported() async throws {
    try await ScriptedService.run { _, _ in
      .call(.running)
    } body: { url, service in
      for (part, filter) in [
        ("createdAfter", CallFilter(createdAfter: Date(timeIntervalSince1970: .nan))),
        ("createdBefore", CallFilter(createdBefore: .distantFuture.addingTimeInterval(1e12))),
        ("labels", CallFilter(labels: ["a=b": "c"])),
      ] {
        let error = await #expect(throws: UnsupportedByService.self) {
          try await Self.listed(RedialClient(url), filter)
        }
        #expect(error?.part == part)
      }
      #expect(service.requests.isEmpty)
    }
  }
}

import Foundation
import Synchronization
import Testing

@testable import RedialClient

@Suite("API keys of the client")
struct KeyTests {
  private static let key = "0123456789abcdefghijkl"

  @Test("a service with keys serves a client with a key, and tells others what is missing")
  func service() async throws {
    try await withService(adminKey: Self.key) { client in
      let call = OutgoingCall(try #require(URL(string: "http://127.0.0.1:9/")))
      for (key, code) in [(nil, "missingAPIKey"), ("", "missingAPIKey"), ("another-key-than-that", "invalidAPIKey")] {
        var stranger = client
        stranger.apiKey = key
        let problem = await #expect(throws: RedialProblem.self) { try await stranger.submit(call) }
        #expect(problem?.status == 401 && problem?.code.rawValue == code, "\(key ?? "none")")
      }
      var holder = client
      holder.apiKey = Self.key
      let submitted = try await holder.submit(call)
      #expect(try await holder.call(submitted.id).id == submitted.id)
      #expect(try await holder.cancel(submitted.id).id == submitted.id)
    }
  }

  @Test(
    "a key that would be sent unencrypted causes a warning",
    arguments: [
      ("http://redial.example", true), ("HTTP://10.0.0.1:8080/x", true), ("http://127.0.0.1:8080", false),
      ("http://[::1]:8080", false), ("http://localhost", false), ("https://redial.example", false),
      ("http://localhost.example", true),
    ])
  func clear(url: String, expected: Bool) throws {
    var client = RedialClient(try #require(URL(string: url)), apiKey: Self.key)
    #expect(client.sendsKeyInTheClear == expected)
    client.apiKey = nil
    #expect(!client.sendsKeyInTheClear)
  }
}

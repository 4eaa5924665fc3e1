import Foundation
import HTTPServer
import Redial
import RedialTestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("Secrets stay out of logs")
struct SecretsTests {
  let calls = Calls()

  /// An error whose words quote the request.
  private struct Talkative: Error, CustomStringConvertible {
    var description: String { "token=hunter2" }
  }

  private func request(_ server: LocalServer, _ path: String = "/a/b?token=hunter2#hunter2") throws -> URLRequest {
    let text = try server.url(path).absoluteString.replacingOccurrences(of: "http://", with: "http://me:hunter2@")
    var request = URLRequest(url: try LocalServer.url(text))
    request.setValue("Bearer hunter2", forHTTPHeaderField: "Authorization")
    return request
  }

  @Test("log lines and descriptions contain no query, user information, field value or content")
  func answers() async throws {
    let server = try LocalServer(
      .reset, .status(503, [HTTPHeader("Set-Cookie", "s=hunter2")], "hunter2"), .status(404, [], "hunter2"))
    let error = try #require(try await calls.failure(of: request(server), calls.options()))
    #expect(error.kind == "endpoint 404")
    #expect(calls.lines.list.count > 5)
    #expect(calls.lines.text.contains("GET http://127.0.0.1:"))
    #expect(calls.lines.text.contains("/a/b"))
    for text in [calls.lines.text, error.logDescription, "\(error)", error.localizedDescription] {
      #expect(!text.contains("hunter2"), "\(text)")
    }
  }

  @Test("the error after the last retry and its history contain no secrets")
  func exhaustion() async throws {
    let server = try LocalServer(.reset, .status(503, [], "hunter2"))
    let error = try #require(try await calls.failure(of: request(server), calls.options(2)))
    let retries = try #require(error.spent?.retries)
    for text in [calls.lines.text, error.logDescription, "\(error)", "\(retries)"] {
      #expect(!text.contains("hunter2"), "\(text)")
    }
    #expect(error.logDescription.contains("attemptsExhausted, 2 attempts"))
    #expect(error.logDescription.contains("HTTP status 503"))
  }

  @Test("a network error contains no secrets")
  func network() async throws {
    let nobody = RefusingPort()
    var text = nobody.url + "x?token=hunter2"
    text = text.replacingOccurrences(of: "http://", with: "http://me:hunter2@")
    let error = try #require(await calls.failure(of: URLRequest(url: LocalServer.url(text)), calls.options(2)))
    #expect(error.logDescription.contains("cannot connect to host"))
    #expect(error.logDescription.contains("http://127.0.0.1:"))
    for text in [calls.lines.text, error.logDescription, "\(error)"] { #expect(!text.contains("hunter2"), "\(text)") }
  }

  @Test("another error's own text and a URL whose path is its content reveal no secrets")
  func others() async throws {
    let server = try LocalServer(.ok())
    let options = calls.options { $0.authenticate = { _, _ in throw Talkative() } }
    let error = try #require(try await calls.failure(of: request(server), options))
    #expect(error.logDescription.contains("Talkative"))
    let data = URLRequest(url: try LocalServer.url("data:text/plain,hunter2"))
    let notHTTP = try #require(await calls.failure(of: data, calls.options()))
    for text in [calls.lines.text, error.logDescription, "\(error)", notHTTP.logDescription] {
      #expect(!text.contains("hunter2"), "\(text)")
    }
  }
}

import Dispatch
import Foundation
import HTTPServer
import RedialClient
import RedialCore
import RedialEngine
import RedialModel
import RedialService

/// Runs `body` with a client of a service that has a store and a port of its own, and stops the service.
func withService<Value>(
  adminKey: String? = nil, webhookSecret: String? = nil, _ body: (RedialClient) async throws -> Value
) async throws -> Value {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent("redial-client-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  var settings = ServiceSettings()
  settings.listen = .tcp(host: "127.0.0.1", port: 0)
  settings.store = "sqlite://\(folder.path)/redial.db"
  settings.logLevel = .error
  settings.adminKey = adminKey
  settings.webhookSecret = webhookSecret
  // A breaker that has opened stays so while a test looks at it, however busy the machine is.
  settings.engine.target.breaker.openInterval = .seconds(3600)
  settings.engine.target.breaker.failureTime = .zero
  settings.engine.target.breaker.maximumOpenInterval = .seconds(3600)
  let service = try Service(settings: settings)
  guard let url = service.urls.first.flatMap({ URL(string: $0) }) else { preconditionFailure("no URL") }
  let result: Result<Value, any Error>
  do {
    result = .success(try await body(RedialClient(url)))
  } catch {
    result = .failure(error)
  }
  // Stopping blocks, which the threads that tests run on must not.
  await withCheckedContinuation { continuation in
    DispatchQueue(label: "stop").async {
      service.stop()
      continuation.resume()
    }
  }
  return try result.get()
}

import Glibc
import HTTPServer

/// Answers each request with three bytes, as the nginx does that it is measured beside. For Benchmarks/server.py, which
/// ends it by a signal.
///
///   server-benchmark [LOOPS]        prints the port that it listens on
struct Answering: HTTPHandler {
  static let answer = HTTPResponse(status: 200, text: "ok\n", contentType: "text/plain")

  func handle(_ request: borrowing HTTPRequest, _ responder: HTTPResponder) { responder.respond(Self.answer) }
}

var configuration = HTTPServerConfiguration()
configuration.loops = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1]) ?? 1 : 1
configuration.maxConnections = 100_000
configuration.backlog = 4096
configuration.idleTimeout = .seconds(600)
configuration.headerTimeout = .seconds(600)
let server = HTTPServer(configuration: configuration, handler: Answering())
do {
  try server.start()
} catch {
  print(error)
  exit(1)
}
print(server.port)
fflush(nil)
while true { pause() }

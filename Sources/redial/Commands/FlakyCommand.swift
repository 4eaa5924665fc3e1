import Glibc
import HTTPServer

extension Command {
  /// `redial flaky`
  static let flaky = Command(
    name: "flaky", summary: "Run an HTTP server that fails on purpose, to test retries against.",
    options: [
      Option(name: "--listen", form: "HOST:PORT", summary: "Address to listen on; unix:PATH too [127.0.0.1:9090]."),
      Option(name: "--quiet", summary: "Do not show requests."),
    ] + FlakyBehaviour.names.map { Option(name: "--\($0.name)", form: $0.form, summary: $0.summary) },
    notes: """
      The query of a request sets the same options for that request: /orders?fail=2&status=500&delay=50ms.
      Requests are counted by their Idempotency-Key, which Redial adds to each call, or by their path without one.
      GET /_flaky/hits shows the counts as JSON. POST /_flaky/reset sets them to zero.
      """
  ) { arguments throws(CommandError) in
    var behaviour = FlakyBehaviour()
    for (name, form, _) in FlakyBehaviour.names {
      guard let value = arguments.value("--\(name)") else { continue }
      guard behaviour.set(name, value) else {
        throw CommandError(code: .usage, message: "--\(name): \"\(value)\" is not \(form)")
      }
    }
    let listen = arguments.value("--listen") ?? "127.0.0.1:9090"
    guard let address = ListenAddress(listen) else {
      throw CommandError(code: .usage, message: "--listen: \"\(listen)\" is not HOST:PORT or unix:PATH")
    }
    var configuration = HTTPServerConfiguration(address: address)
    configuration.maxBodyBytes = 64 << 20
    // A target that accepts requests.
    configuration.decodesContent = false
    let stop = StopSignals()
    let server = HTTPServer(
      configuration: configuration, handler: FlakyServer(behaviour, isQuiet: arguments.has("--quiet")))
    do throws(HTTPServerError) {
      try server.start()
    } catch {
      throw CommandError(code: .unreachable, message: error.description)
    }
    Terminal.announce("flaky listens on \(server.urls.joined(separator: ", "))\n")
    stop.wait()
    server.stop()
    return .success
  }
}

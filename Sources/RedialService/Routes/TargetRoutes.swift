internal import HTTPServer
internal import RedialEngine
internal import RedialModel

/// The targets: their breakers and backlogs, their settings, and commands.
struct TargetRoutes: RouteGroup {
  let runtime: Runtime
  /// The directory of the files that a target's TLS settings may name; nil if they may name none.
  let tlsDirectory: String?

  /// The longest key of a target in bytes: a URL with the longest possible host name, and some more.
  private static let longestKey = 512

  var routes: [Route] {
    [
      Route(.get, "/v1/targets", .scope(.read), server: .all, serve: list),
      Route(.get, "/v1/targets/{key}", .scope(.read), server: .owner, serve: show),
      Route(.get, "/v1/targets/{key}/forecast", .scope(.read), server: .owner, serve: forecast),
      Route(.put, "/v1/targets/{key}", .scope(.operate), server: .owner, serve: configure),
      command("pause", .pause),
      command("resume", .resume),
      command("trip", .trip),
      command("reset", .reset),
      command("release", .release),
    ]
  }

  private func list(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    let wanted = try TargetQuery(parameters: request.query, in: exchange.caller.namespace)
    if runtime.gathersTargets(exchange, atMost: wanted.limit) { return }
    runtime.showTargets(wanted, exchange.responder)
  }

  private func show(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    let target = exchange.caller.target(try exchange.targetKey())
    try request.checkNoParameters()
    if runtime.forwards(exchange, toOwnerOf: target) { return }
    runtime.showTarget(target, exchange.responder)
  }

  private func forecast(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    let target = exchange.caller.target(try exchange.targetKey())
    let question = try ForecastQuestion(parameters: request.query, at: runtime.clock.now)
    if runtime.forwards(exchange, toOwnerOf: target) { return }
    runtime.showForecast(question, of: target, for: exchange.caller, exchange.responder)
  }

  private func configure(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    let (key, caller) = (try exchange.targetKey(), exchange.caller)
    try request.checkNoParameters()
    try request.checkJSON()
    try Self.check(key)
    let overrides = try TargetOverrides.read(request.content)
    let target = caller.target(key)
    try overrides.checkOrigins(of: target)
    try overrides.checkFiles(in: caller.namespace.tlsDirectory(in: tlsDirectory))
    if runtime.forwards(exchange, toOwnerOf: target) { return }
    runtime.perform(.configure(overrides), on: target, exchange)
  }

  private func command(_ name: String, _ kind: TargetCommand.Kind) -> Route {
    Route(.post, "/v1/targets/{key}/\(name)", .scope(.operate), server: .owner) {
      [runtime] (request: borrowing HTTPRequest, exchange) throws(Problem) in
      let key = try exchange.targetKey()
      try request.checkNoParameters()
      try Self.check(key)
      let target = exchange.caller.target(key)
      if runtime.forwards(exchange, toOwnerOf: target) { return }
      runtime.perform(kind, on: target, exchange)
    }
  }

  /// A command can create a target, so its key must be one that a call could have.
  private static func check(_ key: String) throws(Problem) {
    guard key.utf8.count <= longestKey, !PlainText.hasControls(key), NormalForm.isComposed(key) else {
      throw Problem(
        status: 422, code: "invalidTarget", title: "The target's key is not valid",
        detail: "It must have 1 to \(longestKey) bytes, no control characters, and the normalization form NFC.")
    }
  }
}

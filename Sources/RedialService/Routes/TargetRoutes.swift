internal import HTTPServer
internal import RedialEngine
internal import RedialJSON
internal import RedialModel

/// The targets: their breakers and backlogs, their settings, and commands.
struct TargetRoutes: RouteGroup {
  let clock: Clock
  let commands: Commands
  let targets: TargetAnswers
  /// Nil if no others can share the store.
  let instances: OtherInstances?
  /// The directory of the files that a target's TLS settings may name; nil if they may name none.
  let tlsDirectory: String?
  /// Whether there is a key to encrypt secrets with.
  let canEncrypt: Bool

  /// The longest key of a target in bytes: a URL with the longest possible host name, and some more.
  private static let longestKey = 512

  var routes: [Route] {
    [
      Route(.get, "/v1/targets", .scope(.read), server: .all, serve: list),
      Route(.get, "/v1/targets/{key}", .scope(.read), server: .owner, serve: show),
      Route(.put, "/v1/targets/{key}", .scope(.operate), server: .owner, audit: .targetChanged, serve: configure),
      Route(.patch, "/v1/targets/{key}", .scope(.operate), server: .owner, audit: .targetChanged, serve: patch),
      command("pause", .pause, .targetPaused),
      command("resume", .resume, .targetResumed),
      command("trip", .trip, .targetTripped),
      command("reset", .reset, .targetReset),
      command("release", .release, .targetReleased),
    ]
  }

  private func list(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    let wanted = try TargetQuery(parameters: request.query, in: exchange.caller.namespace)
    if instances?.owners.gatherTargets(exchange, atMost: wanted.limit) == true { return }
    targets.showPage(wanted, exchange.responder)
  }

  private func show(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    let target = exchange.caller.target(try exchange.targetKey())
    try request.checkNoParameters()
    if instances?.owners.forward(exchange, toOwnerOf: target) == true { return }
    targets.show(target, exchange.responder)
  }

  private func configure(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    let target = try target(of: request, exchange)
    try request.checkJSON()
    let overrides = try TargetOverrides.read(request.content)
    try overrides.checkOrigins(of: target)
    try overrides.checkFiles(in: filesDirectory(exchange))
    try overrides.checkSecrets(of: target, canEncrypt: canEncrypt)
    perform(.configure(overrides), on: target, exchange)
  }

  private func patch(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    let target = try target(of: request, exchange)
    try request.checkJSON()
    let patch = try TargetPatch(request.content)
    try patch.checkFiles(in: filesDirectory(exchange))
    try patch.checkSecrets(of: target, canEncrypt: canEncrypt)
    perform(.patch(patch), on: target, exchange)
  }

  private func filesDirectory(_ exchange: Exchange) -> String? {
    exchange.caller.namespace.tlsDirectory(in: tlsDirectory)
  }

  private func command(_ name: String, _ kind: TargetCommand.Kind, _ action: AuditAction) -> Route {
    Route(.post, "/v1/targets/{key}/\(name)", .scope(.operate), server: .owner, audit: action) {
      (request: borrowing HTTPRequest, exchange) throws(Problem) in
      perform(kind, on: try target(of: request, exchange), exchange)
    }
  }

  private func perform(_ kind: TargetCommand.Kind, on target: TargetKey, _ exchange: Exchange) {
    if instances?.owners.forward(exchange, toOwnerOf: target) == true { return }
    if let note = exchange.audit {
      // Within the step: if it comes to the command, too, the command's reply may be there before the question's answer.
      commands.engine.ask {
        guard let target = $0.describe(target) else { return }
        var writer = JSONWriter(capacity: 2048)
        target.write(to: &writer)
        note.setBefore(writer.bytes)
      } then: {
      }
    }
    commands.perform(kind, on: target, exchange)
  }

  /// The target of a command. A command can create it, so its key must be one that a call could have.
  private func target(of request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) -> TargetKey {
    let key = try exchange.targetKey()
    try request.checkNoParameters()
    guard key.utf8.count <= Self.longestKey, !PlainText.hasControls(key), NormalForm.isComposed(key) else {
      throw Problem(
        .invalidTarget,
        detail:
          "The target's key \(PlainText.escaped(String(key.prefix(64)))) cannot be used. It must have 1 to \(Self.longestKey) bytes, no control characters, and the normalization form NFC."
      )
    }
    return exchange.caller.target(key)
  }
}

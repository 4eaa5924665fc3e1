internal import HTTPServer
internal import RedialEngine
internal import RedialModel

/// Commands on their way to the engine.
struct Commands: Sendable {
  let engine: EngineLane
  let waiting: ReplyTables
  /// Leads to the owners of targets; nil if there can be no other instances.
  let owners: OwnerRequests?
  let audit: AuditLog

  /// Gives the engine a command of a client about a call.
  ///
  /// - Parameter make: Makes it, with the token for its reply.
  func perform(_ exchange: Exchange, _ make: (ReplyToken<CallCommand.Reply>) -> CallCommand) {
    let token = waiting.commands.add(.client(exchange.responder, exchange.forwardable, exchange.audit))
    var command = make(token)
    command.audit = audit.begin(exchange.audit)
    engine.post(.command(command))
  }

  /// Gives the engine a command of an operator about a target, and answers with the target.
  func perform(_ kind: TargetCommand.Kind, on target: TargetKey, _ exchange: Exchange) {
    let commander = TargetCommander(
      responder: exchange.responder, request: exchange.forwardable, note: exchange.audit)
    let token = waiting.targetCommands.add(commander)
    engine.post(.targetCommand(TargetCommand(kind, target, reply: token, audit: audit.begin(exchange.audit))))
  }

  /// Gives the engine the command of an operation for several calls, as if clients had sent it.
  ///
  /// - Parameter finish: Called once, from any thread, when all replies are there.
  func perform(
    _ kind: CallCommand.Kind, of operation: BulkOperation, on calls: [CallID],
    finish: @escaping @Sendable (BulkBatch.Tally) -> Void
  ) {
    let commands = BulkCommands(
      kind: kind, condition: operation.condition, attribution: operation.request.attribution,
      calls: calls)
    let namespace = operation.namespace
    guard let owners else { return perform(commands, in: namespace, finish: finish) }
    let passOn = { @Sendable (calls: [BulkBatch.Elsewhere], batch: BulkBatch) in
      owners.forward(commands, in: namespace, about: calls, of: batch)
    }
    let batch = BulkBatch(size: calls.count, passOn: passOn, finish: finish)
    perform(commands, in: namespace, batch)
  }

  /// Gives the engine the command of another instance's bulk operation.
  ///
  /// - Parameter finish: As above. Calls of others are counted as such.
  func perform(
    _ commands: BulkCommands, in namespace: Namespace, finish: @escaping @Sendable (BulkBatch.Tally) -> Void
  ) {
    perform(commands, in: namespace, BulkBatch(size: commands.calls.count, finish: finish))
  }

  private func perform(_ commands: BulkCommands, in namespace: Namespace, _ batch: BulkBatch) {
    engine.post(
      commands.calls.map { call in
        .command(
          CallCommand(
            commands.kind, call, in: namespace, reply: waiting.commands.add(.bulk(batch, call)),
            attribution: commands.attribution, condition: commands.condition))
      })
  }
}

internal import HTTPServer
internal import RedialEngine
internal import RedialModel

/// Commands on their way to the engine.
struct Commands: Sendable {
  let engine: EngineLane
  let waiting: ReplyTables
  /// Whether another instance may have to execute one.
  let isShared: Bool

  /// Gives the engine a command of a client about a call.
  ///
  /// - Parameter make: Makes it, with the token for its reply.
  func perform(_ exchange: Exchange, _ make: (ReplyToken<CallCommand.Reply>) -> CallCommand) {
    engine.post(.command(make(waiting.commands.add(.client(exchange.responder, exchange.forwardable)))))
  }

  /// Gives the engine a command of an operator about a target, and answers with the target.
  func perform(_ kind: TargetCommand.Kind, on target: TargetKey, _ exchange: Exchange) {
    let commander = TargetCommander(responder: exchange.responder, request: exchange.forwardable)
    engine.post(.targetCommand(TargetCommand(kind, target, reply: waiting.targetCommands.add(commander))))
  }

  /// Gives the engine the command of an operation for several calls, as if clients had sent it.
  ///
  /// - Parameter finish: Called once, from any thread, when all replies are there.
  func perform(
    _ operation: BulkOperation, on calls: [CallID], finish: @escaping @Sendable (BulkBatch.Tally) -> Void
  ) {
    let (kind, condition) = (operation.commandKind, operation.condition)
    let (namespace, attribution) = (operation.namespace, operation.request.attribution)
    let batch = BulkBatch(size: calls.count, finish: finish)
    engine.post(
      calls.map {
        let request = isShared ? ForwardableRequest(kind, $0, in: namespace, attribution, if: condition) : nil
        let token = waiting.commands.add(.bulk(batch, request))
        return .command(
          CallCommand(kind, $0, in: namespace, reply: token, attribution: attribution, condition: condition))
      })
  }
}

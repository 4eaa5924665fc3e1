internal import RedialModel
internal import RedialStore

extension BulkRunner.Surroundings {
  /// The parts of a running service.
  ///
  /// - Parameter limits: Those for the new calls of replays.
  init(_ runtime: Runtime, limits: CallDescriptor.Limits) {
    self.init(
      page: {
        [reader = runtime.queries.reader, standings = runtime.calls.standings, clock = runtime.clock] query
          throws(StoreError) in
        var query = query
        query.standings = standings.known(at: clock.now)
        return try reader.ids(query)
      },
      // Weak: the runtime's parts know who runs the operations.
      perform: { [weak runtime] operation, calls, finish in
        guard let runtime else { return }
        if let kind = operation.commandKind {
          runtime.commands.perform(kind, of: operation, on: calls, finish: finish)
        } else {
          BulkReplays(engine: runtime.engine, intake: runtime.intake, calls: runtime.calls, limits: limits)
            .perform(operation, on: calls[...], finish: finish)
        }
      },
      store: { [weak runtime] current, then in
        runtime?.changes.keep({ current().map { .put($0.document) } }, then: { then($0 == nil) })
      },
      log: { [log = runtime.log] event, operation in
        log.write(
          .info, event,
          [
            ("operation", "\(operation.id)"), ("action", operation.request.action.name),
            ("state", operation.state.name), ("done", "\(operation.done)"), ("skipped", "\(operation.skipped)"),
          ])
      },
      now: { [clock = runtime.clock] in clock.now })
  }
}

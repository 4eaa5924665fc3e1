internal import Dispatch
internal import RedialEngine
internal import RedialModel
internal import RedialStore

/// The targets of webhook endpoints: paused when the endpoint is disabled, so that its webhooks are held back, and resumed
/// when it is enabled.
///
/// The document of the endpoint says whether that is still to be done. So it is done also if the process is killed first, if
/// the store fails, or if another instance has the target by then. Once it is done, an operator may pause or resume the
/// target by hand until the endpoint is disabled or enabled the next time.
extension Runtime {
  /// No client waits for the engine's reply.
  private static let nobody = ReplyToken<TargetCommand.Reply>(rawValue: 0)

  /// Pauses or resumes the targets of this instance for which that is still to be done.
  func settleTargets() {
    for endpoint in endpoints.unsettled { settleTarget(of: endpoint) }
  }

  /// Pauses or resumes the target of an endpoint, if that is still to be done, and by this instance. Whoever has the target
  /// reads the endpoint, too.
  func settleTarget(of endpoint: WebhookEndpoint) {
    let target = endpoint.asSubscription.target
    guard endpoint.isUnsettled, peers?.table.owns(target) ?? true, endpoints.beginSettling(endpoint.id) else { return }
    let kind: TargetCommand.Kind = endpoint.disabled == nil ? .resume : .pause
    post(.targetCommand(TargetCommand(kind, target, reply: replies.targetCommands.add(.endpoint(endpoint)))))
  }

  /// The engine has answered.
  ///
  /// - Parameter isDone: Whether the target is paused or resumed on disk.
  func settled(_ told: WebhookEndpoint, isDone: Bool) {
    guard isDone else { return settleLater(told.id) }
    onStore { [self] store in
      do {
        let latest = try endpoints.change(told.id, of: store) { $0.settle(told) }
        endpoints.endSettling(told.id)
        guard let latest else { return }
        endpoints.set(latest)
        // It may have been disabled or enabled again meanwhile.
        settleTarget(of: latest)
      } catch {
        let reason = (error as? StoreError)?.message ?? "\(error)"
        log.write(.error, "webhookEndpointNotKept", [("id", told.id), ("error", reason)])
        settleLater(told.id)
      }
    }
  }

  private func settleLater(_ id: String) {
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in
      guard let self else { return }
      endpoints.endSettling(id)
      if let endpoint = endpoints[id] { settleTarget(of: endpoint) }
    }
  }

  /// Pauses the target of an endpoint that was removed. Its webhooks would not be sent in any case.
  func pauseTarget(ofRemoved endpoint: WebhookEndpoint) {
    post(.targetCommand(TargetCommand(.pause, endpoint.asSubscription.target, reply: Self.nobody)))
  }
}

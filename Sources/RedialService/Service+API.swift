internal import HTTPServer
internal import RedialEngine
internal import RedialModel

extension Service {
  /// Everything that answers requests.
  static func api(
    _ settings: ServiceSettings, _ runtime: Runtime, _ keys: KeyRing, _ limits: CallDescriptor.Limits,
    _ policies: StoredPolicies, _ bulk: BulkRunner
  ) -> API {
    let submission = Submission(
      runtime: runtime, keys: keys, limits: limits, targetNaming: settings.targetNaming, maxHops: settings.maxHops,
      longestWait: settings.maxWaitTime)
    let operations = BulkOperations(runner: bulk, limit: settings.maxOperations, rate: settings.operationRate)
    let proxies = settings.trustedProxies
    let groups: [any RouteGroup] = [
      SubmissionRoutes(
        submission: submission, keys: keys, maxBatch: settings.maxBatch, maxLineBytes: settings.maxDescriptorBytes),
      ForwardRoutes(submission: submission, keys: keys, proxies: proxies),
      ReplayRoutes(submission: submission, keys: keys),
      CallRoutes(runtime: runtime, keys: keys, longestWait: settings.maxWaitTime, maxScan: settings.maxScan),
      TargetRoutes(runtime: runtime, tlsDirectory: settings.engine.tlsDirectory),
      PolicyRoutes(runtime: runtime, policies: policies),
      ForecastRoutes(runtime: runtime, policies: policies.policies),
      OperationRoutes(runtime: runtime, operations: operations),
      EventRoutes(runtime: runtime, keys: keys),
      ForwardedRoutes(runtime: runtime, keys: keys),
      EndRoutes(runtime: runtime),
      WebhookRoutes(runtime: runtime, limits: limits, maxScan: settings.maxScan),
      KeyRoutes(runtime: runtime, keys: keys),
      InstanceRoutes(runtime: runtime),
      ServiceRoutes(runtime: runtime, keys: keys, proxies: proxies),
    ]
    return API(
      runtime: runtime, keys: keys, router: Router(groups),
      pages: PageGuard(hosts: settings.allowedHosts, origins: settings.corsOrigins), proxies: proxies)
  }
}

internal import HTTPServer
internal import RedialEngine
internal import RedialModel

extension Service {
  /// Everything that answers requests.
  static func api(
    _ settings: ServiceSettings, _ runtime: Runtime, _ keys: KeyRing, _ limits: CallDescriptor.Limits,
    _ policies: StoredPolicies, _ bulk: BulkRunner
  ) -> API {
    let (queries, clock, calls) = (runtime.queries, runtime.clock, runtime.calls)
    let submission = Submission(
      clock: clock, redaction: runtime.redaction, plans: runtime.plans, engine: runtime.engine,
      intake: runtime.intake, queries: queries, metrics: runtime.metrics, keys: keys, limits: limits,
      targetNaming: settings.targetNaming, maxHops: settings.maxHops, longestWait: settings.maxWaitTime)
    let operations = BulkOperations(runner: bulk, limit: settings.maxOperations, rate: settings.operationRate)
    let proxies = settings.trustedProxies
    let users = TrustedUsers(
      userField: settings.trustedUserHeader.lowercased(), groupsField: settings.trustedGroupsHeader.lowercased(),
      scopes: settings.groupScopes, proxies: proxies)
    let groups: [any RouteGroup] = [
      SubmissionRoutes(
        submission: submission, keys: keys, maxBatch: settings.maxBatch, maxLineBytes: settings.maxDescriptorBytes),
      ForwardRoutes(submission: submission, keys: keys, proxies: proxies, users: users),
      ReplayRoutes(submission: submission, calls: calls, keys: keys, audit: runtime.auditLog),
      CallRoutes(
        queries: queries, clock: clock, metrics: runtime.metrics, commands: runtime.commands, calls: calls, keys: keys,
        longestWait: settings.maxWaitTime, maxScan: settings.maxScan),
      TargetRoutes(
        clock: clock, commands: runtime.commands, targets: runtime.targets,
        instances: runtime.instances, tlsDirectory: settings.engine.tlsDirectory,
        canEncrypt: limits.mayHaveSecrets),
      CredentialRoutes(
        queries: queries, changes: runtime.changes, instances: runtime.instances, credentials: runtime.credentials,
        limits: limits, maxCredentials: settings.maxCredentials),
      PolicyRoutes(
        queries: queries, clock: clock, changes: runtime.changes, instances: runtime.instances, policies: policies),
      PlanRoutes(plans: runtime.plans, queries: queries, policies: policies.policies),
      OperationRoutes(
        queries: queries, clock: clock, changes: runtime.changes, operations: operations,
        standings: calls.standings, keys: keys),
      IssueRoutes(
        issues: runtime.issues, changes: runtime.changes, messenger: runtime.messenger,
        instances: runtime.instances),
      AlertRoutes(
        queries: queries, clock: clock, changes: runtime.changes, messenger: runtime.messenger,
        watch: runtime.alerts, instances: runtime.instances, limits: limits, maxAlerts: settings.maxAlerts),
      EventRoutes(queries: queries, metrics: runtime.metrics, events: runtime.followers.events, keys: keys),
      ForwardedRoutes(engine: runtime.engine, intake: runtime.intake, keys: keys),
      EndRoutes(queries: queries, calls: calls, instances: runtime.instances),
      WebhookRoutes(
        queries: queries, clock: clock, redaction: runtime.redaction, calls: calls, endpoints: runtime.endpoints,
        instances: runtime.instances, limits: limits, maxScan: settings.maxScan),
      KeyRoutes(
        queries: queries, clock: clock, log: runtime.log, changes: runtime.changes, followers: runtime.followers,
        instances: runtime.instances, keys: keys),
      AuditRoutes(queries: queries, clock: clock, maxScan: settings.maxScan),
      InstanceRoutes(queries: queries, instances: runtime.instances, clock: runtime.clock),
      ServiceRoutes(
        queries: queries, statistics: runtime.statistics, monitoring: runtime.monitoring, keys: keys, proxies: proxies),
    ]
    return API(
      stage: runtime.stage, queries: queries, clock: clock, metrics: runtime.metrics, instances: runtime.instances,
      engine: runtime.engine,
      keys: keys, router: Router(groups), pages: PageGuard(hosts: settings.allowedHosts, origins: settings.corsOrigins),
      proxies: proxies, users: users, audit: runtime.auditLog)
  }
}

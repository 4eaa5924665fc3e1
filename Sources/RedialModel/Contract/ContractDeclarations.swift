#if DEBUG
  internal import RedialCore
  internal import RedialJSON
  internal import RedialText

  /// What the contract takes from declarations.
  public enum ContractDeclarations {
    /// A schema of the contract.
    private struct Declaration {
      /// Its place below `components/schemas`; or an operation, `?` and the name of a parameter.
      let path: String
      /// The declaration's name, for readers.
      let source: String
      let schema: MemberSchema
      /// Whether the contract describes each member here, not where the schema refers to.
      var isDescribed = true
    }

    /// All of them, as a JSON array for `Scripts/generate`.
    public static var json: [UInt8] {
      var writer = JSONWriter()
      writer.beginArray()
      for declaration in objects + shown + words + parameters {
        writer.beginObject()
        writer.field("path", declaration.path)
        writer.field("source", declaration.source)
        writer.field("isDescribed", declaration.isDescribed)
        writer.key("schema")
        declaration.schema.write(to: &writer)
        writer.endObject()
      }
      writer.endArray()
      return writer.bytes
    }

    /// The codes of problems and what they mean, as a JSON array for `Scripts/generate`.
    public static var problems: [UInt8] {
      var writer = JSONWriter()
      writer.beginArray()
      for code in ProblemCode.allCases {
        let declaration = code.declaration
        writer.beginObject()
        writer.field("code", code.rawValue)
        writer.field("group", declaration.group.rawValue)
        writer.key("statuses")
        writer.beginArray()
        for status in declaration.statuses { writer.integer(Int64(status)) }
        writer.endArray()
        writer.field("title", declaration.title)
        writer.field("cause", declaration.cause)
        writer.field("remedy", declaration.remedy)
        writer.endObject()
      }
      writer.endArray()
      return writer.bytes
    }

    private static var objects: [Declaration] {
      [
        Declaration(path: "CallDescriptor", source: "CallFields", schema: CallFields.descriptorSchema),
        Declaration(path: "ReplayChanges", source: "CallFields", schema: CallFields.replaySchema, isDescribed: false),
        Declaration(path: "Redirects", source: "RedirectsMember", schema: RedirectsMember.object),
        Declaration(path: "Policy", source: "PolicyDraft", schema: PolicyDraft.schema),
        Declaration(path: "PolicyOrName", source: "PolicyDraft", schema: PolicyDraft.orName),
        Declaration(path: "PolicyName", source: "StoredPolicy", schema: PolicyDraft.name),
        Declaration(path: "AlertName", source: "StoredPolicy", schema: PolicyDraft.name),
        Declaration(path: "Statuses", source: "PolicyDraft", schema: PolicyDraft.statuses),
        Declaration(path: "CallFilter", source: "CallFilter", schema: CallFilter.schema),
        Declaration(path: "BulkRequest", source: "BulkRequest", schema: BulkRequest.schema),
        Declaration(path: "IssueChange", source: "IssueMarkRequest", schema: IssueMarkRequest.schema),
        Declaration(path: "CredentialDraft", source: "CredentialDraft", schema: CredentialDraft.schema),
        Declaration(path: "CredentialName", source: "StoredPolicy", schema: PolicyDraft.name),
        Declaration(path: "AlertDraft", source: "AlertDraft", schema: AlertDraft.schema),
        Declaration(path: "Silence", source: "SilenceRequest", schema: SilenceRequest.schema),
        Declaration(path: "Attribution", source: "Attribution", schema: Attribution.schema),
        Declaration(path: "TargetSettings", source: "TargetOverrides", schema: TargetOverrides.schema),
        Declaration(
          path: "TargetPatch", source: "TargetOverrides", schema: TargetOverrides.schema.patch, isDescribed: false),
        Declaration(
          path: "WebhookEndpointDraft", source: "WebhookEndpointDraft", schema: WebhookEndpointDraft.schema),
        Declaration(path: "APIKeyDraft", source: "APIKeyDraft", schema: APIKeyDraft.schema),
        Declaration(
          path: "Namespace", source: "Namespace",
          schema: .text(pattern: "^[a-z0-9-]{1,\(Namespace.longestName)}$")),
        Declaration(
          path: "Target/properties/recent", source: "RecentAttempts.Window",
          schema: .object(windows.map { ($0, .reference("RecentAttempts")) }, required: windows)),
        Declaration(
          path: "Decision/properties/clampedBy", source: "AttemptDecision",
          schema: .list(of: .words(AttemptDecision.clampWords.map(\.word)), 0...Int.max)),
      ]
    }

    private static let windows = RecentAttempts.Window.allCases.map(\.rawValue)

    /// The fields of a call that its views show.
    private static var shown: [Declaration] {
      CallFields.shownSchemas.map {
        Declaration(path: "CallBase/properties/\($0.name)", source: "CallFields", schema: $0.schema)
      }
    }

    /// Parameters of lists.
    private static var parameters: [Declaration] {
      let sizes: [(operation: String, size: PageSize)] = [
        ("listCalls", .calls), ("listWebhookDeliveries", .calls), ("listTargets", .targets), ("listIssues", .issues),
        ("listAudit", .audit),
      ]
      return CallFilter.names.map { name in
        // This stops the generation: it runs in a development program alone.
        guard let schema = CallFilter.parameter(name) else { fatalError("the condition \(name) has no schema") }
        return Declaration(path: "listCalls?\(name)", source: "CallFilter", schema: schema)
      }
        + sizes.map { list in
          Declaration(
            path: "\(list.operation)?limit", source: "PageSize",
            schema: .whole(1...list.size.most).usually(.whole(list.size.usual)))
        }
    }

    private static var words: [Declaration] {
      func words(_ path: String, _ source: String, _ words: [String]) -> Declaration {
        Declaration(path: path, source: source, schema: .words(words))
      }
      return [
        words("CallKind", "CallKind", CallKind.allCases.map(\.name)),
        words("CallState", "CallState", CallState.allCases.map(\.rawValue)),
        words("FailureReason", "StopReason", StopReason.allCases.map { "\($0.name)" }),
        words("WaitReason", "WaitReason", WaitReason.allCases.map { "\($0.name)" }),
        words("Outcome", "OutcomeClass", OutcomeClass.allCases.map { "\($0.name)" }),
        words("ExchangePhase", "ExchangeFigures.Phase", ExchangeFigures.Phase.allCases.map { "\($0.name)" }),
        words(
          "Exchange/properties/httpVersion", "ExchangeFigures.Version",
          ExchangeFigures.Version.allCases.map { "\($0.name)" }),
        words("BulkAction", "BulkOperation.Action", BulkOperation.Action.allCases.map(\.name)),
        words(
          "BulkOperation/properties/state", "BulkOperation.State", BulkOperation.State.allCases.map(\.name)),
        words("IssueKind", "IssueKind", IssueKind.allCases.map(\.rawValue)),
        words("IssueState", "CallIssue.State", CallIssue.State.allCases.map(\.rawValue)),
        words("CredentialType", "CredentialType", CredentialType.allCases.map(\.rawValue)),
        words("AuditAction", "AuditAction", AuditAction.allCases.map(\.rawValue)),
        words(
          "AuditRecord/properties/actorKind", "AuditRecord.ActorKind", AuditRecord.ActorKind.allCases.map(\.rawValue)),
        words("APIScope", "APIScope", APIScope.allCases.map(\.rawValue)),
        words("ProblemCode", "ProblemCode", ProblemCode.allCases.map(\.rawValue)),
        words("CallEvent", "EventType.ofCallbacks", EventType.ofCallbacks.map(\.rawValue)),
        words("IdempotencyStatus", "IdempotencyStatus", IdempotencyStatus.allCases.map(\.rawValue)),
        words("WebhookEventType", "EventType.subscribable", EventType.subscribable.map(\.rawValue)),
        // The stream itself tells that events were missed.
        words("Event/properties/type", "EventType.streamed", EventType.streamed.map(\.rawValue) + ["reset"]),
        words("Target/properties/state", "TargetHealth", TargetHealth.allCases.map(\.rawValue)),
        words(
          "Target/properties/breaker/properties/state", "TargetSnapshot.BreakerState",
          TargetSnapshot.BreakerState.allCases.map(\.rawValue)),
        words(
          "TargetEvent/properties/breaker/properties/state", "TargetSnapshot.BreakerState",
          TargetSnapshot.BreakerState.allCases.map(\.rawValue)),
        words("Target/properties/pace/properties/mode", "Pace", Pace.allCases.map(\.rawValue)),
        words(
          "Target/properties/pace/properties/reason", "AdaptivePace.Reason",
          AdaptivePace.Reason.allCases.map(\.word)),
      ]
    }
  }
#endif

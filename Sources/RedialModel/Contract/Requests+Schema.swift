#if DEBUG
  internal import RedialCore
  internal import RedialText

  // What clients may say besides a call and a target's settings, as the contract has it.

  extension CallFilter {
    static var schema: MemberSchema { .object(members, takesNull: false, condition) }

    private static func condition(_ name: String) -> MemberSchema? {
      switch name {
      case "kind": .reference("CallKind").usually(.text(CallKind.call.name))
      case "state":
        .either(.reference("CallState"), .list(of: .reference("CallState"), 1...Int.max))
      case "target": .text
      case "labels": .map(to: .text, most: maximumLabels)
      case "createdAfter", "createdBefore": .time
      case "olderThan": .duration
      case "attempts": .whole(attemptCounts)
      case "waitingOn": .reference("WaitReason")
      case "nextAttemptBefore": .any(of: .time, .duration)
      case "status":
        .either(.whole(PolicyVocabulary.statuses), .text(pattern: PolicyDraft.statusPattern))
      case "outcome": .reference("Outcome")
      case "failureReason": .reference("FailureReason")
      case "issue": .reference("IssueID")
      case "url": .text(1...longestURLPart)
      case "idempotencyKey": .text(1...IdempotencyKey.longest)
      default: nil
      }
    }
  }

  extension CallFilter {
    /// A condition in a query, where all values are texts; nil for none.
    static func parameter(_ name: String) -> MemberSchema? {
      switch name {
      case "state": .list(of: .reference("CallState"), 1...Int.max)
      case "status": .text(pattern: PolicyDraft.statusPattern)
      default: names.contains(name) ? condition(name) : nil
      }
    }
  }

  extension Attribution {
    static var schema: MemberSchema {
      .object(Member.self) { member in
        switch member {
        case .by: .text(1...longestName)
        case .reason: .text(1...longestReason)
        }
      }
    }

    /// A member of an object that has both beside others.
    fileprivate static func member(_ member: Member) -> MemberSchema {
      .reference("Attribution/properties/\(member.rawValue)")
    }
  }

  extension BulkRequest {
    static var schema: MemberSchema {
      .object(Member.self, required: [.action]) { member in
        switch member {
        case .action: .reference("BulkAction")
        case .filter: .reference("CallFilter")
        case .ratePerSecond: .whole(BulkOperation.rates)
        case .dryRun, .all: .flag.usually(.flag(false))
        case .by: Attribution.member(.by)
        case .reason: Attribution.member(.reason)
        }
      }
    }
  }

  extension IssueMarkRequest {
    static var schema: MemberSchema {
      .object(Member.self, required: [.state]) { member in
        switch member {
        case .state: .reference("IssueState")
        case .until: .any(of: .time, .duration)
        case .by: Attribution.member(.by)
        case .reason: Attribution.member(.reason)
        }
      }
    }
  }

  extension SilenceRequest {
    static var schema: MemberSchema {
      .object(Member.self, required: [.silenced]) { member in
        switch member {
        case .silenced: .flag
        case .until: .any(of: .time, .duration)
        case .by: Attribution.member(.by)
        case .reason: Attribution.member(.reason)
        }
      }
    }
  }

  extension AlertDraft {
    static var schema: MemberSchema {
      .object(Member.self) { member in
        switch member {
        case .kinds: .list(of: .reference("IssueKind"), 0...IssueKind.allCases.count)
        case .targets: DescriptorReader.targetNames
        case .after: .duration
        case .to: destination
        }
      }
    }

    private static var destination: MemberSchema {
      .object(destinationNames) { name in
        Alert.Channel(rawValue: name) == .pagerDuty ? .text(1...longestKey) : .text
      }
    }
  }

  extension CredentialDraft {
    static var schema: MemberSchema {
      .object(names, required: ["type", "origins"]) { name in
        switch name {
        case "origins": TargetTLS.originList(1...TargetTLS.mostOrigins)
        case "description": .text(1...longestDescription)
        default: CredentialContent.member(name)
        }
      }
    }
  }

  extension CredentialContent {
    fileprivate static func member(_ name: String) -> MemberSchema? {
      if name == "type" { return .reference("CredentialType") }
      guard let part = CredentialPart(rawValue: name) else { return nil }
      return part.words.map { .words($0) } ?? .text(1...part.longest)
    }

    static var signing: MemberSchema {
      .object(RequestSigning.names, required: ["type", "secret"]) {
        $0 == "type" ? .words(CredentialType.allCases.filter(\.signs).map(\.rawValue)) : member($0)
      }
    }
  }

  extension SigningMember {
    var schema: MemberSchema { .either(.text(1...CallDescriptor.Limits().targetBytes), CredentialContent.signing) }
  }

  extension WebhookEndpointDraft {
    static var schema: MemberSchema {
      .object(Member.self, required: [.url]) { member in
        switch member {
        case .url: .text(0...TargetURL.maximumLength)
        case .description: .text(0...longestDescription).usually(.text(""))
        case .events: .list(of: .reference("WebhookEventType"), 1...mostEvents)
        case .targets: DescriptorReader.targetNames
        case .enabled: .flag.usually(.flag(true))
        }
      }
    }
  }

  extension APIKeyDraft {
    static var schema: MemberSchema {
      .object(Member.self, required: [.name, .scopes]) { member in
        switch member {
        case .name: .text(1...longestName)
        case .scopes: .list(of: .reference("APIScope"), 1...Int.max)
        case .quota: .whole(quotas)
        case .namespace: .reference("Namespace")
        }
      }
    }
  }

  extension DescriptorReader {
    fileprivate static var targetNames: MemberSchema {
      .list(of: .text(1...longestTargetName), 0...mostTargetNames).usually(.list([]))
    }
  }
#endif

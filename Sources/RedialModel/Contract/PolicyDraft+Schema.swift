#if DEBUG
  internal import RedialCore
  internal import RedialText

  /// A policy as the contract has it.
  extension PolicyDraft {
    static var schema: MemberSchema {
      let usual = RetryPolicy.service
      return .object(Member.self) { member in
        switch member {
        case .maxAttempts: .whole(attempts).usually(.null)
        case .deadline: .duration.usually(usual.deadline)
        case .lastAttempt:
          words(PolicyVocabulary.lastAttempts, PolicyVocabulary.word(of: usual.deadlineRule.lastAttempt))
        case .minAttemptTime: .duration.usually(usual.deadlineRule.minimumAttemptTime)
        case .attemptTimeout: .duration.usually(usual.attemptTimeout)
        case .backoff: BackoffDraft.schema
        case .retryOn: retryOn
        case .stopOn: .object(stopOnNames) { $0 == "statuses" ? statuses(usual.stopOn) : nil }
        case .retryAfter: retryAfter
        case .onTrip: words(PolicyVocabulary.trips, PolicyVocabulary.word(of: usual.onTrip ?? .wait))
        }
      }
    }

    /// A status, or a range of them.
    static let statusPattern = "^[1-9][0-9]{2}(-[1-9][0-9]{2})?$"

    /// A list of statuses and ranges of them.
    static var statuses: MemberSchema {
      .list(
        of: .either(
          .text(pattern: statusPattern),
          .whole(PolicyVocabulary.statuses)), 0...mostStatuses)
    }

    /// Where a policy may be named.
    static var orName: MemberSchema {
      .either(.reference("Policy"), .text(pattern: "^\(namePattern)(@[1-9][0-9]*)?$"))
    }

    /// The name of a policy, or of an alert.
    static var name: MemberSchema { .text(pattern: "^\(namePattern)$") }

    private static let namePattern = "[A-Za-z0-9._-]{1,\(StoredPolicy.longestName)}"

    private static var retryOn: MemberSchema {
      .object(RetryOn.self) { member in
        switch member {
        // Its defaults depend on whether the request may be repeated.
        case .network: .either(.flag, .words(PolicyVocabulary.networks.map(\.word)))
        case .statuses, .statusesWithRetryAfter: .reference("Statuses")
        }
      }
    }

    private static var retryAfter: MemberSchema {
      let usual = RetryPolicy.service.retryAfter
      return .object(RetryAfter.self) { member in
        switch member {
        case .mode: words(PolicyVocabulary.respects, PolicyVocabulary.word(isRespected: usual.isRespected))
        case .max: .duration.usually(usual.maximum)
        case .beyond: words(PolicyVocabulary.beyond, PolicyVocabulary.word(of: usual.beyond))
        case .spread: .number(spreads).usually(.number(usual.spread))
        case .statuses: statuses(usual.statuses)
        }
      }
    }

    private static func statuses(_ usual: StatusSet) -> MemberSchema {
      .reference("Statuses").usually(.list(usual.ranges.map { .text(PolicyVocabulary.text($0)) }))
    }

    private static func words<Value>(_ words: [(word: String, value: Value)], _ usual: String) -> MemberSchema {
      .words(words.map(\.word)).usually(.text(usual))
    }
  }

  extension BackoffDraft {
    fileprivate static var schema: MemberSchema {
      typealias Usual = BackoffParts.Usual
      return .object(
        BackoffParts.Member.allCases.map { member in
          let schema: MemberSchema =
            switch member {
            case .strategy: .words(PolicyVocabulary.strategies).usually(.text(Usual.strategy))
            case .initial: .duration.usually(Usual.initial)
            case .max: .duration.usually(RetryPolicy.service.backoff.maximum)
            case .multiplier: .number(BackoffParts.multipliers).usually(.number(Usual.multiplier))
            case .increment: .duration
            case .exponent: .number(BackoffParts.exponents).usually(.number(Usual.exponent))
            case .offset: .duration.usually(Usual.offset)
            case .first: .whole(BackoffParts.firsts).usually(.whole(Usual.first))
            case .doublings: .whole(BackoffParts.doublingCounts).usually(.whole(Usual.doublings))
            case .schedule: .list(of: .duration, BackoffParts.scheduleLengths)
            case .then: .words(PolicyVocabulary.ends.map(\.word)).usually(.text(PolicyVocabulary.word(of: Usual.end)))
            case .jitter: .words(PolicyVocabulary.jitters).usually(.text(Usual.jitter))
            case .factor: .number(BackoffParts.factors).usually(.number(Usual.factor))
            case .spread: .duration.usually(Usual.spread)
            case .cap: .words(PolicyVocabulary.caps.map(\.word)).usually(.text(PolicyVocabulary.word(of: Usual.cap)))
            }
          return (member.stringValue, schema)
        })
    }
  }
#endif

#if DEBUG
  /// A target's settings as the contract has them.
  extension TargetOverrides {
    static var schema: MemberSchema {
      .object(names) { name in
        switch name {
        case "breaker": breaker
        case "maxInFlight": .whole(inFlightBounds)
        case "rate":
          .object(rateNames) { ["perSecond": .number(rates).orNull, "burst": .whole(bursts)][$0] }
        case "retryBudget":
          .object(retryBudgetNames) { ["share": .number(shares), "minPerSecond": .whole(retryRates).orNull][$0] }
        case "pace": .words(Pace.allCases.map(\.rawValue))
        case "newCallShare":
          .number(Double(TargetSettings.newCallShares.lowerBound)...TargetSettings.newCallShares.upperBound)
        case "slowStart", "attemptTimeout": .duration
        case "sensitive": .flag
        case "redact": PointersMember().schema
        case "tls": TargetTLS.schema
        case "credential": NameMember().schema
        case "sign": SigningMember().schema
        default: nil
        }
      }
    }

    private static var breaker: MemberSchema {
      .object(breakerNames) { name in
        switch name {
        case "consecutiveFailures": .whole(failureCounts)
        case "significance", "failureRate": .number(shares)
        case "failureTime", "window", "openInterval", "maxOpenInterval": .duration
        case "minCalls": .whole(callCounts)
        case "probes": .whole(probeCounts)
        default: nil
        }
      }
    }
  }

  extension TargetTLS {
    static func originList(_ count: ClosedRange<Int>) -> MemberSchema {
      .list(of: .text(pattern: "^[Hh][Tt][Tt][Pp][Ss]?://[^/?#]+/?$").with("maxLength", .whole(8192)), count)
    }

    fileprivate static var schema: MemberSchema {
      .object(names) { name in
        switch name {
        case "certificate", "key", "caFile": .text(pattern: "^/").with("maxLength", .whole(longestPath))
        case "pins": .list(of: .text(pattern: "^[A-Za-z0-9+/]{43}=$"), 0...mostPins)
        case "minVersion": .words(TLSVersion.allCases.map(\.rawValue))
        case "origins": originList(0...mostOrigins)
        default: nil
        }
      }
    }
  }
#endif

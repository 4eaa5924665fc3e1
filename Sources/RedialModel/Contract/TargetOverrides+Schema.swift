#if DEBUG
  /// A target's settings as the contract has them.
  extension TargetOverrides {
    static var schema: MemberSchema { SettingShape.object(members).schema }
  }

  extension SettingShape {
    fileprivate var schema: MemberSchema {
      switch self {
      case .whole(let range, false): .whole(range)
      case .whole(let range, true): .whole(range).orNull
      case .number(let range, false): .number(range)
      case .number(let range, true): .number(range).orNull
      case .duration: .duration
      case .flag: .flag
      case .words(let words): .words(words)
      case .pointers: PointersMember().schema
      case .tls: TargetTLS.schema
      case .name: NameMember().schema
      case .signing: SigningMember().schema
      case .object(let members): .object(members.map { ($0.name, $0.shape.schema) })
      }
    }
  }

  extension TargetTLS {
    static func originList(_ count: ClosedRange<Int>) -> MemberSchema {
      .list(of: .text(pattern: "^[Hh][Tt][Tt][Pp][Ss]?://[^/?#]+/?$").with("maxLength", .whole(8192)), count)
    }

    fileprivate static var schema: MemberSchema {
      .object(Member.self) { member in
        switch member {
        case .certificate, .key, .caFile: .text(pattern: "^/").with("maxLength", .whole(longestPath))
        case .pins: .list(of: .text(pattern: "^[A-Za-z0-9+/]{43}=$"), 0...mostPins)
        case .minVersion: .words(TLSVersion.allCases.map(\.rawValue))
        case .origins: originList(0...mostOrigins)
        }
      }
    }
  }
#endif

#if DEBUG
  internal import RedialCore

  // What the contract says of the members of a call that a client gives. Bounds are those that the form reads with.

  extension URLMember {
    /// A URL that can be called.
    static let url = MemberSchema.text.with("format", .text("uri")).with("pattern", .text("^[Hh][Tt][Tt][Pp][Ss]?://"))

    var schema: MemberSchema { Self.url }
  }

  extension MethodMember {
    var schema: MemberSchema {
      .text(pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,\(Self.longest)}$")
        .with("not", .schema(.anything.with("const", .text(Self.refused))))
    }
  }

  extension HeadersMember {
    var schema: MemberSchema { .map(to: .either(.text, .list(of: .text, 0...Int.max))) }
  }

  extension TextBodyMember {
    var schema: MemberSchema { .text }
  }

  extension JSONBodyMember {
    var schema: MemberSchema { .anything }
  }

  extension Base64BodyMember {
    var schema: MemberSchema { .text.with("contentEncoding", .text("base64")) }
  }

  extension PolicyMember {
    var schema: MemberSchema { .reference("PolicyOrName") }
  }

  extension DelayMember {
    var schema: MemberSchema { .duration }
  }

  extension StartTimeMember {
    var schema: MemberSchema { .time }
  }

  extension TargetMember {
    var schema: MemberSchema {
      NameMember().schema.with(
        "not",
        .schema(.text(pattern: "^(\(WebhookSubscription.targetPrefix)|\(PathSegment.pattern)$)").without("type")))
    }
  }

  extension BoolMember {
    var schema: MemberSchema { .flag.usually(.flag(usual)) }
  }

  extension WordMember {
    var schema: MemberSchema { .words(Word.allCases.map(\.rawValue)).usually(.text(usual.rawValue)) }
  }

  extension NumberMember {
    var schema: MemberSchema { .whole(range).usually(.whole(usual)) }
    var shownSchema: MemberSchema { .whole(range) }
  }

  extension PointersMember {
    var schema: MemberSchema {
      .list(of: .text(pattern: "^(/([^/~]|~[01])*)*$").with("maxLength", .whole(Self.longest)), 0...Self.most)
    }
  }

  extension NameMember {
    var schema: MemberSchema { .text(1...CallDescriptor.Limits().targetBytes) }
  }

  extension TextMember {
    var schema: MemberSchema { .text(1...longest) }
  }

  extension LabelsMember {
    var schema: MemberSchema {
      .map(
        to: .text(0...Self.longest), names: .text(1...Self.longest).without("type").with("pattern", .text("^[^=]*$")),
        most: Self.most)
    }
  }

  extension CallbackMember {
    var schema: MemberSchema {
      .object(Member.self, required: [.url]) { member in
        switch member {
        case .url: URLMember.url
        case .events: .list(of: .reference("CallEvent"), 1...Int.max)
        }
      }
    }
  }

  extension CaptureMember {
    var schema: MemberSchema {
      .object(Member.self) { member in
        switch member {
        case .maxBytes:
          .whole(0...CallDescriptor.Limits().captureBytes).usually(.whole(CallDescriptor.defaultCaptureBytes))
        case .redactHeaders: .list(of: .text(1...Self.longestName), 0...HeaderRules.maximumCount)
        }
      }
    }
  }

  extension RedirectsMember {
    /// The object with the number.
    static var object: MemberSchema {
      .object(names) { $0 == "max" ? .whole(CallSpec.redirectBounds).usually(.whole(0)) : nil }
    }

    var schema: MemberSchema { .reference("Redirects") }
  }

  extension PolicyNameMember {
    var schema: MemberSchema { .text }
    var shownSchema: MemberSchema { schema.orNull }
  }

  extension CallIDMember {
    var schema: MemberSchema { .reference("CallID") }
  }

  extension TimeMember {
    var schema: MemberSchema { .time }
    var shownSchema: MemberSchema { .text.orNull.with("format", .text("date-time")) }
  }

  extension NamespaceMember {
    var schema: MemberSchema { .reference("Namespace") }
  }

  /// The fields of a call as the contract has them.
  extension CallFields {
    /// What a client gives.
    static var descriptorSchema: MemberSchema {
      .object(schemas.filter { $0.uses.contains(.given) }.map { ($0.name, $0.given) }, required: ["url"])
        .with("not", .schema(exclusions))
    }

    /// What a replay may give: null, which every member has that a call may leave out, removes the original's.
    static var replaySchema: MemberSchema {
      .object(
        schemas.filter { $0.uses.contains(.given) }.map {
          ($0.name, .reference("CallDescriptor/properties/\($0.name)"))
        }
      ).with("not", .schema(exclusions))
    }

    /// What each view of a call shows of them.
    static var shownSchemas: [(name: String, schema: MemberSchema)] {
      schemas.filter { $0.uses.contains(.shown) }.map { ($0.name == "policyName" ? "policy" : $0.name, $0.shown) }
    }

    /// Two members of one group. One that is null is not given, except JSON.
    private static var exclusions: MemberSchema {
      var pairs: [MemberSchema.Value] = []
      for (index, first) in schemas.enumerated() where first.group != nil {
        for second in schemas[(index + 1)...] where second.group == first.group {
          let names = [first.name, second.name]
          let given = MemberSchema.anything.with("not", .schema(.anything.with("type", .text("null"))))
          let members = MemberSchema(keywords: names.filter { $0 != "json" }.map { ($0, .schema(given)) })
          pairs.append(
            .schema(.anything.with("required", MemberSchema.names(names)).with("properties", .schema(members))))
        }
      }
      return .anything.with("anyOf", .list(pairs))
    }

    private static var schemas: [SchemaList.Field] {
      var list = SchemaList()
      var call = CallFields(target: TargetKey("", in: .default), policy: .unsaid, capture: Capture(maxBytes: 0))
      var submission = SubmissionFields()
      visit(&list, &call, &submission)
      return list.fields
    }

    private struct SchemaList: CallFieldVisitor {
      typealias Failure = Never
      typealias Field = (
        name: String, given: MemberSchema, shown: MemberSchema, uses: FieldUses, group: MemberGroup?
      )

      var fields: [Field] = []

      mutating func field<Form: MemberForm>(
        _ name: StaticString, _ form: Form, _ value: inout Form.Value, _ uses: FieldUses, oneOf group: MemberGroup?
      ) {
        fields.append((name.description, form.schema, form.shownSchema, uses, group))
      }
    }
  }
#endif

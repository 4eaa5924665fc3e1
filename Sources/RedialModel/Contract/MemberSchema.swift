import RedialText

#if DEBUG
  internal import RedialCore
  internal import RedialJSON
  internal import RedialText

  /// What the contract says of a value besides its prose: a JSON Schema. Only debug builds have it, for
  /// `contract-declarations`; `Scripts/generate` writes it into `api/openapi.yaml`.
  struct MemberSchema: Sendable {
    /// A value in a schema.
    indirect enum Value: Sendable {
      case null, flag(Bool), whole(Int), number(Double), text(String), list([Value]), schema(MemberSchema)

      /// Whether it is a schema of several forms.
      var isChoice: Bool {
        if case .schema(let schema) = self { schema.keywords.contains { $0.name == "oneOf" } } else { false }
      }
    }

    /// The keywords, in the order in which they are written.
    private(set) var keywords: [(name: String, value: Value)] = []

    /// A schema with one keyword more; without it for nil.
    func with(_ name: String, _ value: Value?) -> MemberSchema {
      var schema = self
      if let value { schema.keywords.append((name, value)) }
      return schema
    }

    /// The schema without a keyword.
    func without(_ name: String) -> MemberSchema { mapped { $0.name == name ? nil : $0 } }

    /// What it is if it is left out.
    func usually(_ value: Value) -> MemberSchema { with("default", value) }
    func usually(_ value: Duration) -> MemberSchema { usually(.text(DurationText.format(value))) }

    // The kinds of values.

    static let anything = MemberSchema()
    static let flag = anything.with("type", .text("boolean"))
    static let text = anything.with("type", .text("string"))
    static let duration = reference("Duration")
    static let time = reference("Timestamp")

    /// Another schema of the contract.
    static func reference(_ path: String) -> MemberSchema {
      anything.with("$ref", .text("#/components/schemas/\(path)"))
    }

    /// A whole number. `Int.max` sets no maximum.
    static func whole(_ range: ClosedRange<Int>) -> MemberSchema {
      anything.with("type", .text("integer")).with("minimum", .whole(range.lowerBound))
        .with("maximum", range.upperBound == .max ? nil : .whole(range.upperBound))
    }

    static func number(_ range: ClosedRange<Double>) -> MemberSchema {
      anything.with("type", .text("number")).with("minimum", .number(range.lowerBound))
        .with("maximum", .number(range.upperBound))
    }

    static func number(_ range: ClosedRange<Int>) -> MemberSchema {
      number(Double(range.lowerBound)...Double(range.upperBound))
    }

    /// A text of a length. Redial counts bytes and JSON Schema characters; no text with fewer bytes has more characters.
    static func text(_ length: ClosedRange<Int>) -> MemberSchema {
      text.with("minLength", length.lowerBound > 0 ? .whole(length.lowerBound) : nil)
        .with("maxLength", .whole(length.upperBound))
    }

    static func text(pattern: String) -> MemberSchema { text.with("pattern", .text(pattern)) }

    static func words(_ words: [String]) -> MemberSchema { text.with("enum", .list(words.map { .text($0) })) }

    static func list(of element: MemberSchema, _ count: ClosedRange<Int>) -> MemberSchema {
      anything.with("type", .text("array")).with("minItems", count.lowerBound > 0 ? .whole(count.lowerBound) : nil)
        .with("maxItems", count.upperBound == .max ? nil : .whole(count.upperBound)).with("items", .schema(element))
    }

    /// An object with names that its writer chooses.
    static func map(to value: MemberSchema, names: MemberSchema? = nil, most: Int? = nil) -> MemberSchema {
      anything.with("type", .text("object")).with("maxProperties", most.map { .whole($0) })
        .with("propertyNames", names.map { .schema($0) }).with("additionalProperties", .schema(value))
    }

    static func either(_ parts: MemberSchema...) -> MemberSchema {
      anything.with("oneOf", .list(parts.map { .schema($0) }))
    }

    static func any(of parts: MemberSchema...) -> MemberSchema {
      anything.with("anyOf", .list(parts.map { .schema($0) }))
    }

    /// An object that has no other members than these. One that is not required may be null.
    ///
    /// - Parameter takesNull: Whether null is the same as leaving it out.
    static func object(
      _ members: [(name: String, schema: MemberSchema)], required: [String] = [], takesNull: Bool = true
    ) -> MemberSchema {
      anything.with("type", .text("object")).with("required", required.isEmpty ? nil : names(required))
        .with("additionalProperties", .flag(false))
        .with(
          "properties",
          .schema(
            MemberSchema(
              keywords: members.map { name, schema in
                (name, .schema(takesNull && !required.contains(name) ? schema.orNull : schema))
              })))
    }

    /// An object that is read by these names.
    ///
    /// - Parameter member: The schema of a member; there has to be one for each name.
    static func object(
      _ names: [String], required: [String] = [], takesNull: Bool = true, _ member: (String) -> MemberSchema?
    ) -> MemberSchema {
      let members = names.map { name in
        // This stops the generation: it runs in a development program alone.
        guard let schema = member(name) else { fatalError("the member \(name) is read and has no schema") }
        return (name, schema)
      }
      return object(members, required: required, takesNull: takesNull)
    }

    /// An object whose members are the cases of an enumeration.
    static func object<Member: CaseIterable & RawRepresentable<String>>(
      _: Member.Type, required: [Member] = [], _ schema: (Member) -> MemberSchema
    ) -> MemberSchema {
      object(Member.allCases.map { ($0.rawValue, schema($0)) }, required: required.map(\.rawValue))
    }

    /// Members as names of a keyword, such as `required`.
    static func names(_ names: [String]) -> Value { .list(names.map { .text($0) }) }

    // Schemas from others.

    /// This or null, which is the same as leaving a member out.
    var orNull: MemberSchema {
      if keywords.isEmpty { return self }
      let null = Self.anything.with("type", .text("null"))
      for (name, value) in keywords {
        switch (name, value) {
        case ("type", .list): return self
        case ("anyOf", .list(let parts)):
          return mapped { $0.name == "anyOf" ? ($0.name, .list(parts + [.schema(null)])) : $0 }
        // A member of another schema, which has null if it may be left out there.
        case ("$ref", .text(let path)) where path.contains("/properties/"): return self
        case ("type", .text):
          return mapped { keyword in
            switch (keyword.name, keyword.value) {
            case ("type", let kind): ("type", .list([kind, .text("null")]))
            case ("enum", .list(let words)): ("enum", .list(words + [.null]))
            default: keyword
            }
          }
        default: continue
        }
      }
      // The default belongs to the whole.
      let usual = keywords.first { $0.name == "default" }?.value
      return Self.any(of: without("default"), null).with("default", usual)
    }

    /// The kind of value without bounds, for what was accepted under others.
    var unbounded: MemberSchema {
      mapped { keyword in
        switch (keyword.name, keyword.value) {
        case ("type", _), ("$ref", _): keyword
        case (let name, .schema(let schema)) where ["items", "additionalProperties"].contains(name):
          (name, .schema(schema.unbounded))
        default: nil
        }
      }
    }

    /// The kind of value in a JSON Merge Patch (RFC 7396): null removes it, and each of its members.
    var patch: MemberSchema {
      mapped { keyword in
        switch (keyword.name, keyword.value) {
        case ("type", .list): keyword
        case ("type", let kind): ("type", .list([kind, .text("null")]))
        // A name or an object, which is replaced as a whole.
        case ("anyOf", .list(let parts)) where parts.contains(where: \.isChoice):
          ("type", .list([.text("string"), .text("object"), .text("null")]))
        // Durations, which are texts.
        case ("anyOf", _): ("type", .list([.text("string"), .text("null")]))
        case ("items", .schema(let schema)): ("items", .schema(schema.unbounded))
        case ("properties", .schema(let members)):
          (
            "properties",
            .schema(
              members.mapped { member in
                guard case .schema(let schema) = member.value else { return nil }
                return (member.name, .schema(schema.patch))
              })
          )
        case ("additionalProperties", _): keyword
        default: nil
        }
      }
    }

    private func mapped(_ change: ((name: String, value: Value)) -> (name: String, value: Value)?) -> MemberSchema {
      MemberSchema(keywords: keywords.compactMap(change))
    }

    /// Writes the schema as one object.
    func write(to writer: inout JSONWriter) {
      writer.beginObject()
      for (name, value) in keywords {
        writer.key(name)
        Self.write(value, to: &writer)
      }
      writer.endObject()
    }

    private static func write(_ value: Value, to writer: inout JSONWriter) {
      switch value {
      case .null: writer.null()
      case .flag(let flag): writer.bool(flag)
      case .whole(let number): writer.integer(Int64(number))
      case .number(let number):
        if let whole = Int64(exactly: number) { writer.integer(whole) } else { writer.double(number) }
      case .text(let text): writer.string(text)
      case .list(let values):
        writer.beginArray()
        for value in values { write(value, to: &writer) }
        writer.endArray()
      case .schema(let schema): schema.write(to: &writer)
      }
    }
  }
#endif

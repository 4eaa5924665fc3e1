public import RedialCore
public import RedialJSON

/// One version of a policy that is stored under a name. A version never changes.
public struct StoredPolicy: Sendable, Hashable {
  public let namespace: Namespace
  public let name: String
  /// Counted from 1; if a name is used again after its policy was removed, the count continues.
  public let version: Int
  /// When this version was made.
  public let createdAt: Timestamp
  /// The author's text, as one JSON object; it is completed depending on whether a request may be repeated. Empty in
  /// the version that removes the policy.
  public let json: [UInt8]

  /// Creates a version of a policy that has been validated.
  public init(name: String, version: Int, createdAt: Timestamp, json: [UInt8], in namespace: Namespace = .default) {
    self.namespace = namespace
    self.name = name
    self.version = version
    self.createdAt = createdAt
    self.json = json
  }

  /// The maximum length of a name, in characters.
  public static let longestName = 64
  /// The maximum length of a policy's text, in bytes.
  public static let longestText = 16 * 1024

  public var key: PolicyName { PolicyName(name, in: namespace) }

  /// Whether this version removes the policy.
  public var isRemoval: Bool { json.isEmpty }

  /// The name with the version, by which a descriptor can select exactly this one.
  public var reference: String { "\(name)@\(version)" }

  /// What the name of a policy is, as a clause.
  public static let nameRule =
    "it has 1 to \(longestName) letters, digits, dots, underscores and hyphens, is neither \"default\" nor \"preview\", "
    + "and is not only one or two dots"

  /// Whether a text can be the name of a policy: letters, digits, `.`, `_` and `-`. `preview` is a path of its own, and
  /// `default` is Redial's.
  public static func isName(_ text: String) -> Bool {
    (1...longestName).contains(text.utf8.count) && text != "preview"
      && text != CallSpec.defaultPolicyName && PathSegment.fault(in: text) == nil
      && text.utf8.allSatisfy { character in
        switch character {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: false
        }
      }
  }

  /// Checks that a text is a policy.
  ///
  /// - Throws: A problem of status 400 for a text that is not JSON, 413 for one that is too long, 422 for everything
  ///   else, which names each wrong member.
  public static func check(_ bytes: UnsafeBufferPointer<UInt8>) throws(Problem) {
    guard bytes.count <= longestText else {
      throw Problem(
        .policyTooLarge, detail: "The policy has \(bytes.count) bytes; at most \(longestText) are kept. Shorten it.")
    }
    _ = try PolicyDraft.read(bytes, limits: CallDescriptor.Limits())
  }

  /// The warnings for its author, for requests that may be repeated.
  public var warnings: [CallWarning] {
    guard let draft = try? json.withUnsafeBufferPointer({ try PolicyDraft.read($0) }) else { return [] }
    let policy = draft.finished(mayRepeat: true)
    return CallWarning.of(policy.plan().warnings, policy, mayRepeat: true)
  }

  /// Writes it as one object, with its warnings.
  ///
  /// - Parameter versions: All kept versions, the newest last.
  public func write(versions: [StoredPolicy], to writer: inout JSONWriter) {
    writer.beginObject()
    writeIdentity(to: &writer)
    writer.key("policy")
    writer.raw(json)
    writer.key("warnings")
    CallWarning.write(warnings, to: &writer)
    writer.key("versions")
    writer.beginArray()
    for version in versions {
      writer.beginObject()
      writer.field("version", version.version)
      writer.field("createdAt", version.createdAt)
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
  }

  /// Writes its name and version, as one object, for lists.
  public func writeSummary(to writer: inout JSONWriter) {
    writer.beginObject()
    writeIdentity(to: &writer)
    writer.endObject()
  }

  private func writeIdentity(to writer: inout JSONWriter) {
    writer.field("name", name)
    writer.field("version", version)
    writer.field("createdAt", createdAt)
  }
}

extension PolicyDraft {
  /// Reads a text that is only a policy.
  ///
  /// - Throws: Like ``StoredPolicy/check(_:)``.
  static func read(
    _ bytes: UnsafeBufferPointer<UInt8>, limits: CallDescriptor.Limits = .unlimited
  ) throws(Problem) -> PolicyDraft {
    var reader = DescriptorReader(json: JSONReader(bytes), limits: limits)
    var draft = PolicyDraft()
    try reader.readWhole { reader throws(JSONError) in
      if try reader.json.peek() == .object {
        try draft.read(from: &reader)
      } else {
        reader.fault("", "must be a JSON object such as {\"maxAttempts\": 5}")
        _ = try reader.json.skipValue()
      }
    }
    // Elsewhere a policy is a member of another object.
    for index in reader.faults.indices where reader.faults[index].place.name.hasPrefix("/policy") {
      reader.faults[index].place.name.removeFirst("/policy".count)
    }
    try reader.refuseFaults(.invalidPolicy)
    return draft
  }
}

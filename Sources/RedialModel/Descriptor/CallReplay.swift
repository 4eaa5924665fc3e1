internal import RedialCore
internal import RedialJSON

/// The changes for a replay: members of a descriptor, each of which replaces the original's. `null` removes the
/// original's, so that the default applies.
public struct CallReplay: Sendable {
  private let changes: [(name: String, value: [UInt8])]
  /// The members that are changed or removed.
  private let named: Set<String>

  private static let bodies: Set<String> = ["body", "json", "bodyBase64"]
  /// Members that a replay may change while it still sends the original's request to the original's URL, and reveals no
  /// more of it.
  private static let harmless: Set<String> = [
    "policy", "delay", "startAt", "idempotent", "onRepeat", "description", "labels", "priority", "orderingKey",
    "target", "sensitive", "redact",
  ]
  /// Members that say what is signed, and who gets the signature.
  private static let signed = bodies.union(["url", "method", "headers", "redirects"])
  /// Members in the spec of an accepted call that are not those of its replay: no client may set them, or they are over.
  private static let internals: Set<String> = [
    "policyName", "contentErasedAt", "namespace", "replayOf", "hops", "delay",
  ]

  /// A replay without changes.
  public static let unchanged = CallReplay(changes: [], named: [])

  /// Reads changes; no bytes mean no changes.
  ///
  /// - Throws: A problem of status 400 for a text that is not JSON, 422 for one that is not an object.
  public static func read(_ bytes: UnsafeBufferPointer<UInt8>) throws(Problem) -> CallReplay {
    var changes: [(name: String, value: [UInt8])] = []
    var named: Set<String> = []
    if !bytes.isEmpty {
      var reader = DescriptorReader(json: JSONReader(bytes), limits: .unlimited)
      try reader.readWhole { reader throws(JSONError) in
        guard try reader.expect(.object, "", "must be a JSON object such as {\"url\": \"https://example.com/\"}") else {
          return
        }
        try reader.json.beginObject()
        while let name = try reader.json.nextKey() {
          let isNull = try reader.json.peek() == .null
          let value = Array(reader.json.raw(try reader.json.skipValue()))
          // The descriptor's reader refuses a repeated member.
          if !isNull || named.contains(name) { changes.append((name, value)) }
          named.insert(name)
        }
      }
      try reader.refuseFaults(.invalidDescriptor)
    }
    return CallReplay(changes: changes, named: named)
  }

  /// Whether a change could reveal the original's data: another request, redirects, capture or callback.
  public var canReveal: Bool { !named.isSubset(of: Self.harmless) }

  /// Whether the new call has the original's body.
  public var keepsBody: Bool { named.isDisjoint(with: Self.bodies) }

  /// The descriptor of the new call; it is checked like any other.
  ///
  /// - Parameters:
  ///   - body: The original's body; needed only if ``keepsBody``.
  ///   - redaction: Hides header fields, which are then not sent to another origin.
  /// - Throws: A problem of status 409 if the original cannot be replayed, 413 for a body that is too large, 422 for
  ///   everything else, which names each wrong member.
  public func descriptor(
    of original: CallRecord, body: [UInt8], limits: CallDescriptor.Limits, _ redaction: Redaction
  ) throws(Problem) -> CallDescriptor {
    let text = try merged(with: original.spec)
    var limits = limits
    limits.mayHaveLatin1 = true
    var descriptor = try text.withUnsafeBufferPointer { bytes throws(Problem) in
      try CallDescriptor.read(bytes, limits: limits)
    }
    try checkSecrets(of: original.spec, in: descriptor.spec, redaction)
    try checkSensitive(original.spec, descriptor.spec)
    try checkSignature(original.spec)
    if keepsBody {
      try checkBody(body, descriptor.spec.method, limits)
      descriptor.body = body
    }
    descriptor.spec = descriptor.spec.replaying(
      original, policyName: named.contains("policy") ? descriptor.spec.policyName : original.spec.policyName)
    return descriptor
  }

  /// The original's remaining members and the changes, as one descriptor.
  private func merged(with spec: CallSpec) throws(Problem) -> [UInt8] {
    var dropped = named.union(Self.internals)
    // If the target came from the URL, the new one comes from the new URL.
    if let origin = try? TargetURL(spec.url).origin, spec.targetName == origin { dropped.insert("target") }
    let members = spec.canonicalJSON
    let changes = changes
    let merged = members.withUnsafeBufferPointer { bytes in
      Result { () throws(JSONError) in
        var reader = JSONReader(bytes)
        var writer = JSONWriter(capacity: bytes.count + 256)
        writer.beginObject()
        try reader.beginObject()
        while let name = try reader.nextKey() {
          let value = reader.raw(try reader.skipValue())
          guard !dropped.contains(name) else { continue }
          writer.key(name)
          writer.raw(Array(value))
        }
        for change in changes {
          writer.key(change.name)
          writer.raw(change.value)
        }
        writer.endObject()
        return writer.bytes
      }
    }
    guard case .success(let bytes) = merged else { preconditionFailure("a spec's canonical JSON is JSON") }
    return bytes
  }

  /// Refuses to send hidden header fields to a receiver that did not get them before.
  private func checkSecrets(of original: CallSpec, in new: CallSpec, _ redaction: Redaction) throws(Problem) {
    guard !named.contains("headers"), (try? TargetURL(original.url).origin) != (try? TargetURL(new.url).origin),
      let hidden = original.headers.first(where: { redaction.hidesHeader($0.name, original.redactedHeaders) })
    else { return }
    throw Problem(
      .invalidDescriptor, at: .init(.pointer, "/headers"),
      "must be given, since the URL has another origin and the original's field \(hidden.name) is secret")
  }

  /// Refuses to send what nobody may see elsewhere, or to show it.
  private func checkSensitive(_ original: CallSpec, _ new: CallSpec) throws(Problem) {
    guard original.isSensitive else { return }
    let change = new.isSensitive ? named.subtracting(Self.harmless).min() : "sensitive"
    guard let change else { return }
    throw Problem(
      .invalidDescriptor, at: .init(.pointer, "/\(change)"),
      "cannot be changed, since the original is sensitive; submit a new call with the whole request")
  }

  /// Refuses to sign something else by a secret that only who submitted the original may have.
  private func checkSignature(_ original: CallSpec) throws(Problem) {
    guard original.hasSecrets, !named.contains("sign"), let change = named.intersection(Self.signed).min() else {
      return
    }
    throw Problem(
      .invalidDescriptor, at: .init(.pointer, "/\(change)"),
      "cannot be changed without \"sign\", since the original is signed by a secret of its own; give that again")
  }

  /// Checks the original's body like a body in a descriptor.
  private func checkBody(_ body: [UInt8], _ method: String, _ limits: CallDescriptor.Limits) throws(Problem) {
    if body.count > limits.bodyBytes {
      throw Problem(
        .bodyTooLarge, at: .init(.pointer, "/body"),
        "is \(body.count) bytes long in the original; at most \(limits.bodyBytes) are accepted (maxBodyBytes)")
    }
    guard !body.isEmpty, method == "HEAD" || method == "TRACE" else { return }
    throw Problem(
      .invalidDescriptor, at: .init(.pointer, "/method"),
      "must not be \(method), since the original has a body; \"body\": null leaves it out")
  }
}

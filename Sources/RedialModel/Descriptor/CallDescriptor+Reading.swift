internal import RedialCore
internal import RedialJSON

extension CallDescriptor {
  /// Reads a descriptor.
  ///
  /// - Throws: A problem of status 400 for a text that is not JSON, 413 for a body that is too large, 422 for
  ///   everything else, which names each wrong member.
  public static func read(
    _ bytes: UnsafeBufferPointer<UInt8>, limits: Limits = Limits()
  ) throws(Problem) -> CallDescriptor {
    var reader = DescriptorReader(json: JSONReader(bytes), limits: limits)
    var call = CallFields(
      target: TargetKey("", in: limits.namespace), policy: .unsaid,
      capture: Capture(maxBytes: min(defaultCaptureBytes, limits.captureBytes)))
    call.hops = limits.hops
    call.repetitionRule = limits.repetitionRule
    var submission = SubmissionFields()
    try reader.readWhole { reader throws(JSONError) in try reader.readFields(of: &call, &submission) }
    return try finished(call, submission, &reader)
  }

  /// The descriptor, with the defaults that depend on other members.
  private static func finished(
    _ call: consuming CallFields, _ submission: SubmissionFields, _ reader: inout DescriptorReader
  ) throws(Problem) -> CallDescriptor {
    let (body, limits) = (submission.body, reader.limits)
    if call.url.isEmpty, !reader.faults.contains(where: { $0.pointer == "/url" || $0.pointer == "" }) {
      reader.fault("/url", "is required")
    }
    // RFC 9110 §9.3.8 forbids it for TRACE; for HEAD, libcurl has no way to send one.
    if let member = reader.place.body, call.method == "HEAD" || call.method == "TRACE" {
      reader.fault("/\(member)", "cannot be given with the method \(call.method)")
    }
    if call.method == "TRACE", call.credential != nil {
      reader.fault("/credential", "cannot be given with the method TRACE, which is answered with what was sent")
    }
    let namesTarget = !call.target.bare.isEmpty
    if !limits.mayNameTargets, namesTarget, let origin = reader.origin, call.target.bare != origin {
      reader.fault(
        "/target",
        "may not be given with this key (setting targetNaming): leave it out to use the URL's origin, \(origin), or use a "
          + "key that the setting allows")
    }
    if !limits.mayHaveSecrets, call.signing?.hasSecrets == true { reader.fault("/sign", RequestSigning.keyFault) }
    reader.checkCredential(call.credential, "/credential", signs: false)
    if case .named(let name) = call.signing { reader.checkCredential(name, "/sign", signs: true) }
    try reader.refuseFaults(body.isTooLarge ? .bodyTooLarge : .invalidDescriptor)
    if call.callback != nil, !limits.mayHaveCallbacks { throw .noWebhookSecret }
    guard let origin = reader.origin.take() else {
      preconditionFailure("a descriptor without a usable URL has a fault")
    }
    if body.isJSON, !call.headers.contains(where: { $0.isNamed("content-type") }) {
      call.headers.append(HeaderField("content-type", "application/json"))
    }
    if call.method.isEmpty { call.method = body.bytes == nil ? "GET" : "POST" }
    if !namesTarget { call.target = TargetKey(origin, in: call.target.namespace) }
    if let name = reader.policyName { call.policyName = name }
    if !limits.isAccepted, reader.policy === KnownPolicy.unsaid { call.policyName = CallSpec.defaultPolicyName }
    let policy = reader.policy.finished(mayRepeat: call.isIdempotent)
    call.policy = policy.ofCall
    var warnings: [CallWarning] = []
    if !limits.isAccepted {
      warnings = policy.warnings
      if let letters = CallWarning.letters(of: call.method) { warnings.append(letters) }
      if !namesTarget, let shared = CallWarning.shared(origin) { warnings.append(shared) }
    }
    let start = submission.startAt.map { Start.at($0) } ?? .after(call.delay)
    return CallDescriptor(
      spec: CallSpec(call, warnings: warnings), body: body.bytes ?? [], start: start, apiKey: limits.apiKey)
  }
}

extension DescriptorReader {
  /// Refuses the name of a credential that the call cannot use, as far as that is known here.
  fileprivate mutating func checkCredential(_ name: String?, _ pointer: String, signs: Bool) {
    guard let name, let origin, let credentials = limits.credentials,
      let detail = credentials.fault(in: CredentialName(name, in: limits.namespace), signs: signs, origin: origin)
    else { return }
    fault(pointer, detail)
  }
}

/// Where the reading of a call's fields is: at which field, and which member is next.
struct FieldPlace {
  /// The number of the field that is visited.
  fileprivate var visited = 0
  /// The number of the field whose member is next; nil at the end of the object.
  fileprivate var wanted: Int?
  /// The members that have occurred.
  fileprivate var members = CallMembers.ofClients
  /// The member with the body.
  fileprivate(set) var body: StaticString?
  /// The member with the start.
  fileprivate var start: StaticString?

  /// The member of a group that has occurred.
  fileprivate subscript(group: MemberGroup) -> StaticString? {
    get {
      switch group {
      case .body: body
      case .start: start
      }
    }
    set {
      switch group {
      case .body: body = newValue
      case .start: start = newValue
      }
    }
  }
}

/// Reads the members of an object into the fields with their names. Those in the documented order are read in one pass
/// over the fields.
extension DescriptorReader: CallFieldVisitor {
  typealias Failure = JSONError

  fileprivate mutating func readFields(
    of call: inout CallFields, _ submission: inout SubmissionFields
  ) throws(JSONError) {
    guard try json.peek() == .object else {
      fault("", "must be a JSON object such as {\"url\": \"https://example.com/\"}")
      _ = try json.skipValue()
      return
    }
    if limits.isAccepted { place.members = CallMembers.all }
    try json.beginObject()
    try findNext()
    while place.wanted != nil {
      place.visited = 0
      try CallFields.visit(&self, &call, &submission)
    }
  }

  private mutating func findNext() throws(JSONError) {
    // Taken out, because a reader cannot be asked to change a part of itself.
    var members = place.members
    defer { place.members = members }
    place.wanted = try nextIndex(&members, of: "a call descriptor", at: "")
  }

  mutating func field<Form: MemberForm>(
    _ name: StaticString, _ form: Form, _ value: inout Form.Value, _ uses: FieldUses, oneOf group: MemberGroup?
  ) throws(JSONError) {
    defer { place.visited += 1 }
    guard place.visited == place.wanted else { return }
    if let group, let first = place[group] {
      fault("/\(name)", "cannot be given together with \(first)\(group.reason)")
      _ = try json.skipValue()
    } else {
      if let group { place[group] = name }
      try form.read(name, into: &value, from: &self)
    }
    try findNext()
  }
}

/// The members of a call descriptor.
private enum CallMembers {
  /// Those that a client may give.
  static let ofClients = Members(names, among: CallFields.uses.map { $0.uses.contains(.given) }, withNull: withNull)
  /// Also those that only Redial writes, for a call that it has accepted.
  static let all = Members(names, withNull: withNull)

  private static let names = CallFields.uses.map(\.name)
  /// `"json": null` is the body `null`.
  private static let withNull: Set<String> = ["json"]
}

extension CallFields {
  /// The name of each field, and who gives and sees it.
  static let uses: [(name: String, uses: FieldUses)] = {
    var list = UseList()
    var call = CallFields(target: TargetKey("", in: .default), policy: .unsaid, capture: Capture(maxBytes: 0))
    var submission = SubmissionFields()
    visit(&list, &call, &submission)
    return list.fields
  }()

  private struct UseList: CallFieldVisitor {
    typealias Failure = Never

    var fields: [(name: String, uses: FieldUses)] = []

    mutating func field<Form: MemberForm>(
      _ name: StaticString, _ form: Form, _ value: inout Form.Value, _ uses: FieldUses, oneOf group: MemberGroup?
    ) {
      fields.append((name.description, uses))
    }
  }
}

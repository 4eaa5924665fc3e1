internal import RedialCore
internal import RedialJSON
internal import RedialText

/// Reads a call descriptor in one pass and collects all faults.
///
/// A value of the wrong kind is recorded and skipped, so that one answer shows the client all of its mistakes. Only
/// text that is not JSON ends the reading.
struct DescriptorReader: ~Copyable {
  var json: JSONReader
  var faults: [Problem.Fault] = []
  /// The number of faults; ``faults`` has the first of them.
  var faultCount = 0
  let limits: CallDescriptor.Limits
  /// Whether a member's null is no fault but removes it: no value is read, as for a member that is left out.
  var nullRemoves = false

  private var url: String?
  private var origin: String?
  private var method: String?
  private var headers: [HeaderField] = []
  private var body: [UInt8]?
  private var bodyMember: StaticString?
  private var bodyIsJSON = false
  private var bodyTooLarge = false
  /// The policy that was read last.
  private(set) var policy = KnownPolicy.unsaid
  private(set) var policyName: String?
  private var replayOf: CallID?
  private var contentErasedAt: Timestamp?
  private var hops: Int?
  private var namespace: Namespace?
  private var start: CallDescriptor.Start?
  private var startMember: StaticString?
  private var target: String?
  private var idempotent = true
  private var labels: [CallSpec.Label] = []
  private var callback: Callback?
  private var captureLimit: Int?
  private var maxRedirects: Int?
  private var redactedHeaders: [String] = []
  private var priority: Int?
  private var orderingKey: String?

  /// The members of a descriptor; from ``policyName`` on, those that only Redial writes for an accepted call.
  private enum Member: Int, CaseIterable {
    case url, method, headers, body, json, bodyBase64, policy, delay, startAt, target, idempotent, labels, callback
    case capture, redirects, orderingKey, priority
    case policyName, replayOf, contentErasedAt, namespace, hops
  }

  private static let allMembers = Members(Member.allCases.map { "\($0)" })
  private static let members = Members(Member.allCases.prefix(Member.policyName.rawValue).map { "\($0)" })
  private static let maximumLabels = 32
  private static let maximumLabelLength = 255

  static func read(
    _ bytes: UnsafeBufferPointer<UInt8>, limits: CallDescriptor.Limits
  ) throws(Problem) -> CallDescriptor {
    var reader = DescriptorReader(json: JSONReader(bytes), limits: limits)
    try reader.readWhole { reader throws(JSONError) in try reader.readMembers() }
    return try reader.finished()
  }

  init(json: JSONReader, limits: CallDescriptor.Limits) {
    self.json = json
    self.limits = limits
  }

  // MARK: Members

  private mutating func readMembers() throws(JSONError) {
    guard try json.peek() == .object else {
      fault("", "must be a JSON object such as {\"url\": \"https://example.com/\"}")
      _ = try json.skipValue()
      return
    }
    var members = limits.isAccepted ? Self.allMembers : Self.members
    try json.beginObject()
    while let index = try nextIndex(&members, of: "a call descriptor", at: "") {
      if let member = Member(rawValue: index) { try readMember(member) }
    }
  }

  private mutating func readMember(_ member: Member) throws(JSONError) {
    switch member {
    case .url: try readURL()
    case .method: try readMethod()
    case .headers: try readHeaders()
    case .body: try readBody(member, "body")
    case .json: try readBody(member, "json")
    case .bodyBase64: try readBody(member, "bodyBase64")
    case .policy: try readPolicy()
    case .delay, .startAt: try readStart(member, member == .delay ? "delay" : "startAt")
    case .target: try readTarget()
    case .idempotent: idempotent = try bool("/idempotent") ?? true
    case .labels: try readLabels()
    case .callback: try readCallback()
    case .capture: try readCapture()
    case .redirects: try readRedirects()
    case .priority: priority = try integer("/priority", in: CallSpec.priorities)
    case .orderingKey: orderingKey = try name("/orderingKey")
    case .policyName: policyName = try string("/policyName")
    case .replayOf: replayOf = try string("/replayOf").flatMap { CallID($0) }
    case .namespace: try readNamespace()
    case .hops: hops = try integer("/hops", in: 0...CallDescriptor.Limits.mostHops)
    case .contentErasedAt: contentErasedAt = try string("/contentErasedAt").flatMap { TimestampText.parse($0) }
    }
  }

  private mutating func readURL() throws(JSONError) {
    guard let text = try string("/url") else { return }
    url = text
    do {
      let found = try TargetURL(text).origin
      origin = found
      checkEgress(found, "/url")
    } catch {
      fault("/url", error.detail)
    }
  }

  /// Refuses a URL that the egress policy would certainly refuse later.
  private mutating func checkEgress(_ origin: String, _ pointer: String) {
    guard let refusal = limits.egress?.refusal(ofOrigin: origin) else { return }
    fault(pointer, "cannot be called: the egress policy refuses \(refusal.clause)")
  }

  private mutating func readMethod() throws(JSONError) {
    guard let text = try string("/method") else { return }
    if !HeaderRules.isToken(text) || text.utf8.count > 32 {
      fault("/method", "must be a method name such as GET or POST, at most 32 characters")
    } else if text == "CONNECT" {
      fault("/method", "must not be CONNECT, which asks for a tunnel and not for an answer")
    } else {
      method = text
    }
  }

  private mutating func readHeaders() throws(JSONError) {
    guard try expect(.object, "/headers", "must be an object of strings or arrays of strings") else { return }
    try json.beginObject()
    headers.reserveCapacity(4)
    // An accepted call may have a content-type as well.
    let most = limits.isAccepted ? Int.max : HeaderRules.maximumCount
    var tooMany = false
    while let name = try json.nextKey() {
      if headers.count >= most {
        tooMany = true
        _ = try json.skipValue()
        continue
      }
      if let detail = HeaderRules.fault(inName: name, isAccepted: limits.isAccepted) {
        fault("/headers/\(Self.escaped(name))", detail)
      }
      if headers.contains(where: { $0.name == name }) {
        fault("/headers/\(Self.escaped(name))", "is given twice; give an array of its values")
      }
      if try json.peek() == .array {
        try json.beginArray()
        while try json.nextElement() {
          if headers.count < most {
            try readHeaderValue(name)
          } else {
            tooMany = true
            _ = try json.skipValue()
          }
        }
      } else {
        try readHeaderValue(name)
      }
    }
    let bytes = headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
    if tooMany || bytes > HeaderRules.maximumBytes && !limits.isAccepted {
      fault("/headers", "has more than \(HeaderRules.maximumCount) fields or \(HeaderRules.maximumBytes) bytes")
    }
    // A request has one (RFC 9112 §3.2), and a second would be left out.
    if !limits.isAccepted, headers.count(where: { $0.isNamed("host") }) > 1 {
      fault("/headers/host", "must have one value")
    }
  }

  private mutating func readHeaderValue(_ name: String) throws(JSONError) {
    guard try expect(.string, "/headers/\(Self.escaped(name))", "must be a string") else { return }
    let found = try json.nextString()
    let value = try Self.usual(found, json)
    if let detail = HeaderRules.fault(inValue: value) { fault("/headers/\(Self.escaped(name))", detail) }
    headers.append(HeaderField(name, value))
  }

  /// The text of a value; the most frequent one is not allocated.
  private static func usual(_ value: JSONReader.Found, _ json: JSONReader) throws(JSONError) -> String {
    if value.isPlain, value.range.count == 16, ASCIIText.starts(json.raw(value.range), with: "application/json") {
      return "application/json"
    }
    return try json.text(of: value)
  }

  private mutating func readBody(_ member: Member, _ key: StaticString) throws(JSONError) {
    if let bodyMember {
      fault("/\(key)", "cannot be given together with \(bodyMember): a call has one body")
      _ = try json.skipValue()
      return
    }
    bodyMember = key
    switch member {
    case .json:
      body = Array(json.raw(try json.skipValue()))
      bodyIsJSON = true
    case .bodyBase64:
      guard let text = try string("/bodyBase64") else { return }
      guard let bytes = Base64.decode(text) else {
        return fault("/bodyBase64", "is not base 64 with padding (RFC 4648)")
      }
      body = bytes
    default:
      guard try expect(.string, "/body", "must be a string") else { return }
      body = try json.utf8String()
    }
    if let body, body.count > limits.bodyBytes {
      bodyTooLarge = true
      fault("/\(key)", "is \(body.count) bytes long; at most \(limits.bodyBytes) are accepted")
    }
  }

  mutating func readPolicy() throws(JSONError) {
    // A name is not cached by its bytes, because the policy behind it can change.
    if try json.peek() == .string {
      let name = try json.string()
      if name == CallSpec.defaultPolicyName { return policy = KnownPolicy.unsaid }
      guard let policies = limits.policies else { return fault("/policy", "cannot be a name here; give an object") }
      switch policies.resolve(name, in: limits.namespace) {
      case .found(let known, let reference): (policy, policyName) = (known, reference)
      case .fault(let detail): fault("/policy", detail)
      }
      return
    }
    if let (known, count) = KnownPolicies.recent.latest(leading: json.rest) {
      json.passKnownValue(of: count)
      policy = known
      return
    }
    var ahead = json
    let text = json.raw(try ahead.skipValue())
    if let known = KnownPolicies.recent.policy(readFrom: text) {
      json = ahead
      policy = known
      return
    }
    let faultsBefore = faultCount
    var draft = PolicyDraft()
    try draft.read(from: &self)
    if faultCount == faultsBefore { policy = KnownPolicies.recent.remember(draft, readFrom: text) }
  }

  private mutating func readStart(_ member: Member, _ key: StaticString) throws(JSONError) {
    if let startMember {
      fault("/\(key)", "cannot be given together with \(startMember)")
      _ = try json.skipValue()
      return
    }
    startMember = key
    if member == .delay {
      guard let delay = try duration("/delay", in: .zero...limits.delay) else { return }
      start = .after(delay)
    } else {
      guard let text = try string("/startAt") else { return }
      guard let time = TimestampText.parse(text) else {
        return fault("/startAt", "must be an RFC 3339 time such as 2026-12-01T09:00:00Z")
      }
      if let latest = limits.latestStart, time > latest {
        return fault("/startAt", "is too far away; a call starts at most \(DurationText.format(limits.delay)) from now")
      }
      start = .at(time)
    }
  }

  private mutating func readNamespace() throws(JSONError) {
    guard let text = try string("/namespace") else { return }
    namespace = Namespace(text)
    if namespace == nil { fault("/namespace", Namespace.rule) }
  }

  private mutating func readTarget() throws(JSONError) {
    target = try name("/target")
    // Calls that an older version accepted may have such a target; the engine ends them.
    if !limits.isAccepted, let target, target.hasPrefix(WebhookSubscription.targetPrefix) {
      fault("/target", "must not begin with \(WebhookSubscription.targetPrefix), which is reserved for webhooks")
    }
  }

  /// A name that the client chooses, such as a target or an ordering key.
  private mutating func name(_ pointer: String) throws(JSONError) -> String? {
    guard let text = try string(pointer) else { return nil }
    // A name that an earlier version accepted stays unchanged.
    guard !text.isEmpty, text.utf8.count <= limits.targetBytes, limits.isAccepted || !PlainText.hasControls(text) else {
      fault(pointer, "must have 1 to \(limits.targetBytes) bytes and no control characters")
      return nil
    }
    if !limits.isAccepted, !NormalForm.isComposed(text) { fault(pointer, Self.notComposed) }
    return text
  }

  private static let notComposed = "must be in the normalization form NFC of Unicode"

  private mutating func readLabels() throws(JSONError) {
    guard try expect(.object, "/labels", "must be an object of strings") else { return }
    try json.beginObject()
    var tooMany = false
    while let name = try json.nextKey() {
      func pointer() -> String { "/labels/\(Self.escaped(name))" }
      if labels.count >= Self.maximumLabels {
        tooMany = true
        _ = try json.skipValue()
        continue
      }
      guard let value = try string(pointer()) else { continue }
      if name.isEmpty || name.utf8.count > Self.maximumLabelLength || value.utf8.count > Self.maximumLabelLength {
        fault(pointer(), "must have a name of 1 to \(Self.maximumLabelLength) bytes and a value of at most as many")
      } else if !limits.isAccepted, PlainText.hasControls(name) {
        fault(pointer(), "must have no control characters in its name")
      } else if !limits.isAccepted, !NormalForm.isComposed(name) {
        fault(pointer(), "must have a name in the normalization form NFC of Unicode")
      } else if labels.contains(where: { $0.name == name }) {
        fault(pointer(), "is given twice")
      }
      labels.append(.init(name: name, value: value))
    }
    if tooMany { fault("/labels", "has more than \(Self.maximumLabels) members") }
  }

  private mutating func readCallback() throws(JSONError) {
    guard try expect(.object, "/callback", "must be an object with a url") else { return }
    var address: String?
    var events = EventType.ofCallbacks
    try json.beginObject()
    var members = Members(["url", "events"])
    while let key = try nextMember(&members, of: "a callback", at: "/callback") {
      if key == "url" { address = try string("/callback/url") } else { events = try readEvents() }
    }
    guard let address else { return fault("/callback/url", "is required") }
    do {
      checkEgress(try TargetURL(address).origin, "/callback/url")
    } catch {
      fault("/callback/url", error.detail)
    }
    callback = Callback(url: address, events: events)
  }

  private mutating func readEvents() throws(JSONError) -> [EventType] {
    var events: [EventType] = []
    guard try expect(.array, "/callback/events", "must be an array of event names") else { return events }
    try json.beginArray()
    var position = 0
    while try json.nextElement() {
      defer { position += 1 }
      guard let name = try string("/callback/events/\(position)") else { continue }
      guard let event = EventType(rawValue: name), EventType.ofCallbacks.contains(event) else {
        fault(
          "/callback/events/\(position)",
          "must be one of \(EventType.ofCallbacks.map(\.rawValue).joined(separator: ", "))")
        continue
      }
      if !events.contains(event) { events.append(event) }
    }
    if position == 0 { fault("/callback/events", "names no event") }
    return events
  }

  private mutating func readCapture() throws(JSONError) {
    guard try expect(.object, "/capture", "must be an object") else { return }
    try json.beginObject()
    var members = Members(["maxBytes", "redactHeaders"])
    while let key = try nextMember(&members, of: "capture", at: "/capture") {
      if key == "maxBytes" {
        captureLimit = try integer("/capture/maxBytes", in: 0...limits.captureBytes)
      } else {
        try readRedactedHeaders()
      }
    }
  }

  private mutating func readRedactedHeaders() throws(JSONError) {
    guard try expect(.array, "/capture/redactHeaders", "must be an array of header field names") else { return }
    try json.beginArray()
    var position = 0
    while position < HeaderRules.maximumCount, try json.nextElement() {
      let pointer = "/capture/redactHeaders/\(position)"
      position += 1
      guard let name = try string(pointer)?.lowercased() else { continue }
      if !HeaderRules.isToken(name) || name.utf8.count > Self.maximumLabelLength {
        fault(pointer, "is not a header field name of at most \(Self.maximumLabelLength) bytes")
      } else if !redactedHeaders.contains(name) {
        redactedHeaders.append(name)
      }
    }
    if position == HeaderRules.maximumCount, try skipElements() > 0 {
      fault("/capture/redactHeaders", "has more than \(HeaderRules.maximumCount) names")
    }
  }

  private mutating func readRedirects() throws(JSONError) {
    guard try expect(.object, "/redirects", "must be an object such as {\"max\": 5}") else { return }
    try json.beginObject()
    var members = Members(["max"])
    while try nextMember(&members, of: "redirects", at: "/redirects") != nil {
      maxRedirects = try integer("/redirects/max", in: CallSpec.redirectBounds)
    }
  }

  // MARK: The end

  private consuming func finished() throws(Problem) -> CallDescriptor {
    if url == nil, !faults.contains(where: { $0.pointer == "/url" || $0.pointer.isEmpty }) {
      fault("/url", "is required")
    }
    // RFC 9110 §9.3.8 forbids it for TRACE; for HEAD, libcurl has no way to send one.
    if let bodyMember, let method, method == "HEAD" || method == "TRACE" {
      fault("/\(bodyMember)", "cannot be given with the method \(method)")
    }
    if !limits.mayNameTargets, let target, let origin, target != origin {
      fault(
        "/target",
        "may not be given with this key (setting targetNaming): leave it out to use the URL's origin, \(origin), or use a "
          + "key that the setting allows")
    }
    try refuseFaults(
      status: bodyTooLarge ? 413 : 422, code: bodyTooLarge ? "bodyTooLarge" : "invalidDescriptor",
      title: "The call descriptor cannot be accepted")
    // Moved, not copied: copying optional texts would go through the runtime's type information.
    guard let url = url.take(), let origin = origin.take() else {
      preconditionFailure("a descriptor without a usable URL has a fault")
    }
    if bodyIsJSON, !headers.contains(where: { $0.isNamed("content-type") }) {
      headers.append(HeaderField("content-type", "application/json"))
    }
    let method = method.take() ?? (body == nil ? "GET" : "POST")
    if !limits.isAccepted, policy === KnownPolicy.unsaid { policyName = CallSpec.defaultPolicyName }
    let policy = policy.finished(mayRepeat: idempotent)
    var warnings: [CallWarning] = []
    if !limits.isAccepted {
      warnings = policy.warnings
      if target == nil, let shared = CallWarning.shared(origin) { warnings.append(shared) }
    }
    let start = start ?? .after(.zero)
    let spec = CallSpec(
      url: url, method: method, headers: headers,
      target: TargetKey(target.take() ?? origin, in: namespace ?? limits.namespace), policy: policy.policy,
      policyJSON: policy.json, policyName: policyName.take(), idempotent: idempotent, labels: labels,
      callback: callback.take(),
      captureLimit: captureLimit ?? min(CallDescriptor.defaultCaptureBytes, limits.captureBytes),
      maxRedirects: maxRedirects ?? 0, redactedHeaders: redactedHeaders, priority: priority ?? CallSpec.defaultPriority,
      orderingKey: orderingKey.take(), delay: start.delay, replayOf: replayOf, contentErasedAt: contentErasedAt,
      hops: hops ?? limits.hops, warnings: warnings)
    return CallDescriptor(spec: spec, body: body.take() ?? [], start: start, apiKey: limits.apiKey)
  }
}

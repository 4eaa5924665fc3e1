public import RedialCore
internal import RedialJSON

/// A client's request for a bulk operation.
public struct BulkRequest: Sendable, Hashable {
  public var action: BulkOperation.Action
  public var filter: CallFilter
  /// The maximum rate, in calls per second.
  public var ratePerSecond: Int
  /// Who requests it, and why.
  public var attribution: Attribution
  /// Whether it is only counted.
  public var isDryRun: Bool

  enum Member: String, CaseIterable { case action, filter, ratePerSecond, by, reason, dryRun, all }

  /// Reads a request from JSON.
  ///
  /// - Parameters:
  ///   - rate: Calls per second if the client does not say.
  ///   - now: From when durations count.
  /// - Throws: A problem of status 400 for a text that is not JSON, 422 for everything else, which names each wrong
  ///   member. A filter without a condition is wrong unless `all` is true: it is more often forgotten than intended.
  public static func read(_ bytes: UnsafeBufferPointer<UInt8>, rate: Int, at now: Timestamp) throws(Problem)
    -> BulkRequest
  {
    var reader = DescriptorReader(json: JSONReader(bytes), limits: .unlimited)
    var action: BulkOperation.Action?
    var (filter, rate, attribution, isDryRun) = (CallFilter(), rate, Attribution(), false)
    var meansAll = false
    try reader.readWhole { reader throws(JSONError) in
      guard
        try reader.expect(
          .object, "", "must be a JSON object such as {\"action\": \"retry\", \"filter\": {\"target\": \"billing\"}}")
      else { return }
      try reader.json.beginObject()
      var members = Members(of: Member.self)
      while let member = try reader.nextMember(&members, as: Member.self, of: "an operation", at: "") {
        switch member {
        case .action:
          guard let word = try reader.string("/action") else { continue }
          action = BulkOperation.Action.allCases.first { $0.name == word }
          if action == nil { reader.fault("/action", "must be one of retry, cancel, release, purge, replay") }
        case .filter: try filter.read("/filter", from: &reader, at: now)
        case .ratePerSecond: rate = try reader.integer("/ratePerSecond", in: BulkOperation.rates) ?? rate
        case .dryRun: isDryRun = try reader.bool("/dryRun") ?? false
        case .all: meansAll = try reader.bool("/all") ?? false
        case .by: try attribution.read(.by, from: &reader)
        case .reason: try attribution.read(.reason, from: &reader)
        }
      }
    }
    if let action {
      let states = action.states
      let isUnfiltered = !filter.hasConditions && !meansAll
      if filter.states.isEmpty, let unsaid = states.unsaid { filter.states = [unsaid] }
      if filter.states.isEmpty || !filter.states.isSubset(of: states.allowed) {
        let words = states.allowed.map(\.rawValue).joined(separator: " or ")
        reader.fault("/filter/state", "must be \(words) to \(action.name) calls")
      } else if action == .replay, filter.kind != .call {
        reader.fault("/filter/kind", "must be call to replay calls; retry delivers webhooks again")
      } else if let condition = filter.contradiction {
        let others = BulkOperation.Action.allCases.filter { $0.states.allowed.contains(.scheduled) }
        let words = others.map(\.name).joined(separator: " and ")
        reader.fault(
          "/filter/\(condition)",
          action.states.allowed.contains(.scheduled)
            ? "selects scheduled calls, and the state is another; name scheduled, or leave the state out"
            : "selects calls that wait, and \(action.name) acts on calls that have ended; \(words) act on calls that wait"
        )
      } else if isUnfiltered, !reader.faults.contains(where: { $0.place.name.hasPrefix("/filter") }) {
        let state = filter.states.map { "\($0.rawValue) " }.joined()
        reader.fault(
          "/filter",
          "has no condition, so this would \(action.name) every \(state)call; name a condition such as target, "
            + "or set \"all\": true (redial ops: --all)")
      }
    } else if !reader.faults.contains(where: { $0.pointer == "/action" || $0.pointer == "" }) {
      reader.fault("/action", "is required")
    }
    try reader.refuseFaults(.invalidOperation)
    guard let action else { preconditionFailure("an operation without an action has a fault") }
    return BulkRequest(
      action: action, filter: filter, ratePerSecond: rate, attribution: attribution, isDryRun: isDryRun)
  }

  /// Writes the members into an open object; a dry run is not stored.
  func writeMembers(to writer: inout JSONWriter) {
    writer.field("action", action.name)
    writer.key("filter")
    filter.write(to: &writer)
    writer.field("ratePerSecond", ratePerSecond)
    if let by = attribution.by { writer.field("by", by) }
    if let reason = attribution.reason { writer.field("reason", reason) }
  }

  /// The request as one JSON object, which ``read(_:rate:at:)`` reads.
  public var json: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writeMembers(to: &writer)
    writer.endObject()
    return writer.bytes
  }
}

public import RedialCore
internal import RedialJSON
internal import RedialText

/// A client's wish that an alert notifies nobody for a while.
public struct SilenceRequest: Sendable, Hashable {
  /// Whether it begins or goes on; false to end it.
  public var isOn: Bool
  /// Until when; nil for the usual time.
  public var until: Timestamp?
  public var attribution = Attribution()

  enum Member: String, CaseIterable { case silenced, until, by, reason }

  /// Reads `{"silenced": true, "until": "8h", "by": "ada", "reason": "…"}`; only the first member is required.
  ///
  /// - Parameter now: From when durations count.
  /// - Throws: A problem of status 400 for a text that is not JSON, 422 for everything else, which names each wrong
  ///   member.
  public static func read(_ bytes: UnsafeBufferPointer<UInt8>, at now: Timestamp) throws(Problem) -> SilenceRequest {
    var reader = DescriptorReader(json: JSONReader(bytes), limits: .unlimited)
    var isOn: Bool?
    var request = SilenceRequest(isOn: false)
    try reader.readWhole { reader throws(JSONError) in
      guard try reader.expect(.object, "", "must be a JSON object such as {\"silenced\": true, \"until\": \"8h\"}")
      else { return }
      try reader.json.beginObject()
      var members = Members(of: Member.self)
      while let member = try reader.nextMember(&members, as: Member.self, of: "a silence", at: "") {
        switch member {
        case .silenced: isOn = try reader.bool("/silenced")
        case .until: request.until = try reader.timeOrDuration("/until", from: now)
        case .by: try request.attribution.read(.by, from: &reader)
        case .reason: try request.attribution.read(.reason, from: &reader)
        }
      }
    }
    if let isOn { request.isOn = isOn }
    if isOn == nil, reader.faults.isEmpty { reader.fault("/silenced", "is required") }
    if let until = request.until, until <= now { reader.fault("/until", "must be after now") }
    if request.until != nil, isOn == false { reader.fault("/until", "is for \"silenced\": true; leave it out") }
    try reader.refuseFaults(.invalidChange)
    return request
  }
}

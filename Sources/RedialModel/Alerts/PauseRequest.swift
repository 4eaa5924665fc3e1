public import RedialCore
internal import RedialJSON
internal import RedialText

/// A client's wish that nobody is notified for a while: of an alert, or of an incident.
public struct PauseRequest: Sendable, Hashable {
  /// Whether it begins or goes on; false to end it.
  public var isOn: Bool
  /// Until when; nil for the usual time.
  public var until: Timestamp?
  public var attribution = Attribution()

  /// - Parameter first: The name of the first member.
  static func names(_ first: String) -> [String] { [first, "until", "by", "reason"] }

  /// Reads `{"acknowledged": true, "until": "8h", "by": "ada", "reason": "…"}`; only the first member is required.
  ///
  /// - Parameters:
  ///   - name: The name of the first member.
  ///   - now: From when durations count.
  /// - Throws: A problem of status 400 for a text that is not JSON, 422 for everything else, which names each wrong
  ///   member.
  public static func read(
    _ bytes: UnsafeBufferPointer<UInt8>, _ name: String, at now: Timestamp
  ) throws(Problem) -> PauseRequest {
    var reader = DescriptorReader(json: JSONReader(bytes), limits: .unlimited)
    var isOn: Bool?
    var request = PauseRequest(isOn: false)
    try reader.readWhole { reader throws(JSONError) in
      guard try reader.expect(.object, "", "must be a JSON object such as {\"\(name)\": true, \"until\": \"8h\"}")
      else { return }
      try reader.json.beginObject()
      var members = Members(names(name))
      while let key = try reader.nextMember(&members, of: "this request", at: "") {
        switch key {
        case name: isOn = try reader.bool("/\(name)")
        case "until": request.until = try reader.timeOrDuration("/until", from: now)
        default:
          if let member = Attribution.Member(rawValue: key) { try request.attribution.read(member, from: &reader) }
        }
      }
    }
    if let isOn { request.isOn = isOn }
    if isOn == nil, reader.faults.isEmpty { reader.fault("/\(name)", "is required") }
    if let until = request.until, until <= now { reader.fault("/until", "must be after now") }
    if request.until != nil, isOn == false { reader.fault("/until", "is for \"\(name)\": true; leave it out") }
    try reader.refuseFaults(.invalidChange)
    return request
  }
}

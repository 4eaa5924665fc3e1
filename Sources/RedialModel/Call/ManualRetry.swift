public import RedialCore
public import RedialJSON

/// Who requested an action on a call, and why, in their own words.
public struct Attribution: Sendable, Hashable {
  /// Who; nil if unknown.
  public var by: String?
  /// Why; nil if unknown.
  public var reason: String?

  enum Member: String, CaseIterable { case by, reason }

  /// The maximum length of ``by``, in bytes.
  public static let longestName = 255
  /// The maximum length of the reason, in bytes.
  public static let longestReason = 1024

  /// Creates an attribution.
  public init(by: String? = nil, reason: String? = nil) {
    self.by = by
    self.reason = reason
  }

  /// Reads `{"by": "…", "reason": "…"}`; both may be left out.
  ///
  /// - Throws: A problem of status 400 for a text that is not JSON, 422 for everything else, which names each wrong
  ///   member.
  public static func read(_ bytes: UnsafeBufferPointer<UInt8>) throws(Problem) -> Attribution {
    var reader = DescriptorReader(json: JSONReader(bytes), limits: .unlimited)
    var attribution = Attribution()
    try reader.readWhole { reader throws(JSONError) in
      guard try reader.expect(.object, "", "must be a JSON object such as {\"by\": \"ada\", \"reason\": \"fixed\"}")
      else { return }
      try reader.json.beginObject()
      var members = Members(of: Member.self)
      while let member = try reader.nextMember(&members, as: Member.self, of: "an attribution", at: "") {
        try attribution.read(member, from: &reader)
      }
    }
    try reader.refuseFaults(.invalidAttribution)
    return attribution
  }

  /// Reads a member.
  mutating func read(_ member: Member, from reader: inout DescriptorReader) throws(JSONError) {
    switch member {
    case .by: by = try reader.text("/by", longest: Self.longestName)
    case .reason: reason = try reader.text("/reason", longest: Self.longestReason)
    }
  }
}

extension DescriptorReader {
  /// Text of 1 byte up to a maximum, without control characters.
  fileprivate mutating func text(_ pointer: String, longest: Int) throws(JSONError) -> String? {
    guard let text = try string(pointer) else { return nil }
    guard (1...longest).contains(text.utf8.count), !PlainText.hasControls(text) else {
      fault(pointer, "must have 1 to \(longest) bytes and no control characters")
      return nil
    }
    return text
  }
}

/// A manual retry of a call, which is stored with the call.
public struct ManualRetry: Sendable, Hashable {
  /// When.
  public var at: Timestamp
  /// Attempts that had begun by then.
  public var afterAttempt: Int
  /// Who and why.
  public var attribution: Attribution

  /// The maximum number that is kept of a call: the latest.
  public static let mostKept = 100

  /// Creates a record of a manual retry.
  public init(at: Timestamp, afterAttempt: Int, attribution: Attribution) {
    self.at = at
    self.afterAttempt = afterAttempt
    self.attribution = attribution
  }

  /// Writes it as one object.
  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("at", at)
    writer.field("afterAttempt", afterAttempt)
    writer.field("by", attribution.by)
    writer.field("reason", attribution.reason)
    writer.endObject()
  }
}

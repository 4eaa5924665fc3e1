public import RedialCore
public import RedialJSON
internal import RedialText

/// What was decided about a call when an attempt had ended, as people see it.
public struct AttemptDecision: Sendable, Hashable {
  public var action: RetryDecision.Action
  /// Why, in words; empty for a success.
  public var because: String
  /// The wait that the backoff computed, before it was limited; nil if it computed none.
  public var computed: Duration?
  /// The random part of the wait, 0...1, in thousandths.
  public var jitter: Double?
  /// What limited the wait.
  public var clamps: WaitClamps
  /// What the wait is for, if not the backoff.
  public var waitsFor: WaitReason?
  /// What held the attempt itself back after it was due; nil if it was not.
  public var held: HeldTimes?

  /// Creates a decision.
  public init(
    _ action: RetryDecision.Action, because: String = "", computed: Duration? = nil, jitter: Double? = nil,
    clamps: WaitClamps = [], waitsFor: WaitReason? = nil, held: HeldTimes? = nil
  ) {
    self.action = action
    self.because = because
    self.computed = computed
    self.jitter = jitter.map { ($0 * 1000).rounded() / 1000 }
    self.clamps = clamps
    self.waitsFor = waitsFor
    self.held = held
  }

  /// Nearly all attempts end with it.
  private static let success = Array("{\"action\":\"succeed\"}".utf8)
  static let clampWords: [(clamp: WaitClamps, word: String)] = [
    (.maximum, "max"), (.deadline, "deadline"), (.minimum, "min"),
  ]

  /// The action's word.
  public var word: StaticString {
    switch action {
    case .succeed: "succeed"
    case .retry: "retry"
    case .park: "park"
    case .stop: "stop"
    }
  }

  /// The decision as one JSON object, as it is stored.
  public var json: [UInt8] {
    if case .succeed = action, because.isEmpty, held == nil { return Self.success }
    var writer = JSONWriter(capacity: 160)
    write(storing: held, to: &writer)
    return writer.bytes
  }

  /// Writes the decision as one object.
  ///
  /// - Parameter held: What is stored with it, and shown in another way.
  func write(storing held: HeldTimes? = nil, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("action")
    writer.string(word)
    switch action {
    case .succeed: break
    case .retry(let wait): writer.field("after", wait)
    case .park(let time): writer.field("until", time)
    case .stop(let reason):
      writer.key("reason")
      writer.string(reason.name)
    }
    if !because.isEmpty { writer.field("because", because) }
    if let computed { writer.field("computed", computed) }
    if let jitter { writer.field("jitterFactor", jitter) }
    if !clamps.isEmpty {
      writer.key("clampedBy")
      writer.beginArray()
      for (clamp, word) in Self.clampWords where clamps.contains(clamp) { writer.string(word) }
      writer.endArray()
    }
    if let waitsFor {
      writer.key("waitingOn")
      writer.string(waitsFor.name)
    }
    if let held {
      writer.key("held")
      held.write(to: &writer)
    }
    writer.endObject()
  }

  /// Reads ``json``. Members of a newer version are passed over; a word of one is not known.
  ///
  /// - Throws: What is wrong with it.
  public init(json bytes: [UInt8]) throws(JSONError) {
    if bytes == Self.success {
      self.init(.succeed)
      return
    }
    var members = MemberValues()
    let failure: JSONError? = bytes.withUnsafeBufferPointer { bytes in
      var reader = JSONReader(bytes)
      do throws(JSONError) {
        try members.read(from: &reader)
        try reader.finish()
        return nil
      } catch {
        return error
      }
    }
    if let failure { throw failure }
    guard let action = members.action else {
      throw JSONError(offset: 0, reason: "its action, or the reason of that, is not known")
    }
    self.init(
      action, because: members.because, computed: members.computed, jitter: members.jitter, clamps: members.clamps,
      waitsFor: members.waitsFor, held: members.held)
  }

  /// The members of a decision while it is read.
  private struct MemberValues {
    var word = ""
    var after: Duration?
    var until: Timestamp?
    var reason: StopReason?
    var because = ""
    var computed: Duration?
    var jitter: Double?
    var clamps: WaitClamps = []
    var waitsFor: WaitReason?
    var held: HeldTimes?

    var action: RetryDecision.Action? {
      switch word {
      case "succeed": .succeed
      case "retry": after.map { .retry(after: $0) }
      case "park": until.map { .park(until: $0) }
      case "stop": reason.map { .stop($0) }
      default: nil
      }
    }

    mutating func read(from reader: inout JSONReader) throws(JSONError) {
      try reader.beginObject()
      while let name = try reader.nextKey() {
        switch name {
        case "action": word = try reader.string()
        case "after": after = DurationText.parse(try reader.string())
        case "until": until = TimestampText.parse(try reader.string())
        case "reason":
          let word = try reader.string()
          reason = StopReason.allCases.first { "\($0.name)" == word }
        case "because": because = try reader.string()
        case "computed": computed = DurationText.parse(try reader.string())
        // The second one is what builds from before the first release have stored.
        case "jitterFactor", "jitter": jitter = try reader.double()
        case "clampedBy":
          try reader.beginArray()
          while try reader.nextElement() {
            let word = try reader.string()
            for (clamp, known) in AttemptDecision.clampWords where known == word { clamps.insert(clamp) }
          }
        case "waitingOn":
          let word = try reader.string()
          waitsFor = WaitReason.allCases.first { "\($0.name)" == word }
        case "held": held = try HeldTimes(from: &reader)
        default: _ = try reader.skipValue()
        }
      }
    }
  }
}

internal import RedialModel

/// The trace of a call's attempts (W3C Trace Context, level 1): the client's, or one of the call's own.
///
/// Every id in it follows from the call, so that it is the same whichever process makes the attempt.
struct TraceContext: Sendable, Hashable {
  /// The trace's id.
  let trace: TraceID
  /// The client's span, the parent of the call; nil in a trace of the call's own.
  let parent: UInt64?
  /// Whether the trace is recorded, as its beginning decided: the one flag that is passed on (section 3.2.2.5).
  let isSampled: Bool

  static let fieldName = "traceparent"

  /// - Parameters:
  ///   - given: The client's field; nil if there is none.
  ///   - sampling: Which calls without a client's trace are recorded.
  init(of call: CallID, given: String?, sampling: TraceSampling = .none) {
    if let parts = given.flatMap(Parts.init) {
      (trace, parent, isSampled) = (parts.trace, parts.parent, parts.isSampled)
    } else {
      let id = UInt64(bitPattern: call.rawValue)
      trace = TraceID(high: Self.mixed(id), low: Self.mixed(~id))
      parent = nil
      isSampled = sampling.takes(trace)
    }
  }

  init(of call: CallID, _ spec: CallSpec, sampling: TraceSampling = .none) {
    self.init(of: call, given: spec.traceparent, sampling: sampling)
  }

  /// The field of an attempt: the trace, and a span for the attempt.
  static func field(of call: CallID, attempt: Int, given: String?, sampling: TraceSampling = .none) -> String {
    let context = TraceContext(of: call, given: given, sampling: sampling)
    // Written in place, since every attempt of a traced call has one.
    return String(unsafeUninitializedCapacity: 55) { text in
      _ = text.initialize(fromContentsOf: "00-".utf8)
      text.setHex(context.trace.high, at: 3)
      text.setHex(context.trace.low, at: 19)
      text[35] = UInt8(ascii: "-")
      text.setHex(span(of: call, attempt: attempt), at: 36)
      text[52] = UInt8(ascii: "-")
      text[53] = UInt8(ascii: "0")
      text[54] = context.isSampled ? UInt8(ascii: "1") : UInt8(ascii: "0")
      return 55
    }
  }

  /// The span of an attempt.
  static func span(of call: CallID, attempt: Int) -> UInt64 {
    mixed(UInt64(bitPattern: call.rawValue) ^ mixed(UInt64(attempt)))
  }

  /// The span of a call's round, which begins after that many attempts.
  static func span(of call: CallID, roundAfter attempts: Int) -> UInt64 {
    mixed(UInt64(bitPattern: call.rawValue) ^ mixed(~UInt64(attempts)))
  }

  /// The parts of a field that are passed on.
  private struct Parts {
    var trace: TraceID
    var parent: UInt64
    var isSampled: Bool

    /// - Returns: Nil for an invalid field; then a new trace begins, as the standard requires.
    init?(_ text: String) {
      let parts = text.split(separator: "-", omittingEmptySubsequences: false)
      guard parts.count >= 4, parts[0].count == 2, parts[0] != "ff", parts[0] != "00" || parts.count == 4,
        parts[1].utf8.count == 32, parts[2].utf8.count == 16, parts[3].utf8.count == 2,
        parts[..<4].allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) } }),
        let high = UInt64(parts[1].prefix(16), radix: 16), let low = UInt64(parts[1].suffix(16), radix: 16),
        let parent = UInt64(parts[2], radix: 16), high | low != 0, parent != 0
      else { return nil }
      // Flags that this version of the standard does not know are set to zero (section 3.2.2.5).
      (trace, self.parent) = (TraceID(high: high, low: low), parent)
      isSampled = (UInt8(parts[3], radix: 16) ?? 0) & 1 == 1
    }
  }

  /// The finisher of SplitMix64 (Steele, Lea, Flood, 2014): a permutation, so that calls do not share a span.
  private static func mixed(_ value: UInt64) -> UInt64 {
    var mixed = value &+ 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    mixed ^= mixed >> 31
    // All zeros is not a valid id.
    return mixed == 0 ? 1 : mixed
  }
}

struct TraceID: Sendable, Hashable, CustomStringConvertible {
  var high: UInt64
  var low: UInt64

  /// In 32 hexadecimal digits.
  var description: String {
    String(unsafeUninitializedCapacity: 32) { text in
      text.setHex(high, at: 0)
      text.setHex(low, at: 16)
      return 32
    }
  }
}

/// Which of the traces that begin here are recorded: a share of them, by their ids, like OpenTelemetry's
/// `TraceIdRatioBased`, so that all services decide the same.
struct TraceSampling: Sendable, Hashable {
  /// The lowest value of the lowest 63 bits of an id that is not recorded.
  private let bound: UInt64

  /// No trace is recorded.
  static let none = TraceSampling(share: 0)

  /// - Parameter share: From 0 for none to 1 for all.
  init(share: Double) {
    bound = share >= 1 ? 1 << 63 : share <= 0 ? 0 : UInt64(share * 0x1p63)
  }

  func takes(_ trace: TraceID) -> Bool { trace.low & (1 << 63 - 1) < bound }
}

extension UnsafeMutableBufferPointer<UInt8> {
  /// Writes 16 hexadecimal digits.
  func setHex(_ value: UInt64, at start: Int) {
    for place in 0..<16 {
      let digit = UInt8(truncatingIfNeeded: value >> UInt64(60 - 4 * place)) & 0xF
      self[start + place] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit
    }
  }
}

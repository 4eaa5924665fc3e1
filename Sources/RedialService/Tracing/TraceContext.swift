internal import RedialModel

/// The trace that a call's attempts belong to (W3C Trace Context, level 1).
enum TraceContext {
  static let fieldName = "traceparent"

  /// The field of an attempt: the trace that the client's call belongs to, or one of the call's own, and a new span for
  /// the attempt. Both follow from the call, so that they are the same whichever process makes the attempt.
  static func field(of call: CallID, attempt: Int, given: String?) -> String {
    let id = UInt64(bitPattern: call.rawValue)
    let span = mixed(id ^ mixed(UInt64(attempt)))
    let trace = given.flatMap(Parts.init)
    var text: [UInt8] = []
    text.reserveCapacity(55)
    text += "00-".utf8
    if let trace {
      text += trace.trace.utf8
    } else {
      appendHex(mixed(id), to: &text)
      appendHex(mixed(~id), to: &text)
    }
    text.append(UInt8(ascii: "-"))
    appendHex(span, to: &text)
    text.append(UInt8(ascii: "-"))
    text += (trace?.flags ?? "00").utf8
    return String(decoding: text, as: UTF8.self)
  }

  /// What of a field is handed on.
  private struct Parts {
    var trace: String
    var flags: String

    /// - Returns: Nil for what is no such field; then a trace of its own begins, as the standard asks.
    init?(_ text: String) {
      let parts = text.split(separator: "-", omittingEmptySubsequences: false)
      guard parts.count >= 4, parts[0].count == 2, parts[0] != "ff", parts[0] != "00" || parts.count == 4,
        parts[1].count == 32, parts[2].count == 16, parts[3].count == 2,
        parts[..<4].allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) } }),
        parts[1].contains(where: { $0 != "0" }), parts[2].contains(where: { $0 != "0" })
      else { return nil }
      (trace, flags) = (String(parts[1]), String(parts[3]))
    }
  }

  /// The finisher of SplitMix64 (Steele, Lea, Flood, 2014): a permutation, so that calls do not share a span.
  private static func mixed(_ value: UInt64) -> UInt64 {
    var mixed = value &+ 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    mixed ^= mixed >> 31
    // All zeros is no id.
    return mixed == 0 ? 1 : mixed
  }

  private static func appendHex(_ value: UInt64, to text: inout [UInt8]) {
    for place in 0..<16 {
      let digit = UInt8(truncatingIfNeeded: value >> UInt64(60 - 4 * place)) & 0xF
      text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit)
    }
  }
}

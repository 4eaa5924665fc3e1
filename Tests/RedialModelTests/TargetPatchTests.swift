import Foundation
import RedialCore
import RedialModel
import Testing

@Suite("A patch of a target's settings")
struct TargetPatchTests {
  private static let key: TargetKey = "https://a.example"
  private static let pin = "ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs="

  private static func read<Value>(
    _ text: String, _ body: (UnsafeBufferPointer<UInt8>) throws(Problem) -> Value
  ) throws(Problem) -> Value {
    try Array(text.utf8).withUnsafeBufferPointer { bytes throws(Problem) in try body(bytes) }
  }

  private static func overrides(_ text: String) throws(Problem) -> TargetOverrides {
    try read(text) { bytes throws(Problem) in try TargetOverrides.read(bytes) }
  }

  private static func patched(
    _ target: String, _ patch: String, of key: TargetKey = key
  ) throws(Problem) -> TargetOverrides {
    try read(patch) { bytes throws(Problem) in try TargetPatch(bytes) }.applied(to: try overrides(target), of: key)
  }

  @Test(
    "it sets what it names and leaves the rest, null removes, and an array is replaced",
    arguments: [
      (#"{"maxInFlight":3,"pace":"fixed"}"#, #"{"maxInFlight":4}"#, #"{"maxInFlight":4,"pace":"fixed"}"#),
      (#"{"maxInFlight":3,"pace":"fixed"}"#, "{}", #"{"maxInFlight":3,"pace":"fixed"}"#),
      (#"{"maxInFlight":3,"pace":"fixed"}"#, #"{"maxInFlight":null,"slowStart":null}"#, #"{"pace":"fixed"}"#),
      (#"{"maxInFlight":3,"pace":"fixed"}"#, "null", "{}"),
      ("{}", #"{"rate":{"perSecond":5}}"#, #"{"rate":{"perSecond":5}}"#),
      (#"{"rate":{"perSecond":5}}"#, #"{"rate":{"burst":7}}"#, #"{"rate":{"perSecond":5,"burst":7}}"#),
      (
        #"{"rate":{"perSecond":5,"burst":7}}"#, #"{"rate":{"perSecond":null}}"#,
        #"{"rate":{"perSecond":null,"burst":7}}"#
      ),
      (#"{"breaker":{"probes":2},"slowStart":"1s"}"#, #"{"breaker":null}"#, #"{"slowStart":"1s"}"#),
      (
        #"{"tls":{"pins":["\#(pin)"],"minVersion":"1.2"}}"#, #"{"tls":{"pins":[],"minVersion":"1.3"}}"#,
        #"{"tls":{"minVersion":"1.3"}}"#
      ),
    ])
  func examples(target: String, patch: String, result: String) throws {
    let json = try Self.patched(target, patch).json
    #expect(String(decoding: json, as: UTF8.self) == result)
  }

  // MARK: Against RFC 7396

  /// `MergePatch` of RFC 7396, section 2.
  private static func merged(_ patch: Any, into target: Any?) -> Any {
    guard let patch = patch as? [String: Any] else { return patch }
    var result = target as? [String: Any] ?? [:]
    for (name, value) in patch {
      // Its one exception: null for a limit is a value, no limit.
      let removes = value is NSNull && !["perSecond", "minPerSecond"].contains(name)
      result[name] = removes ? nil : merged(value, into: result[name])
    }
    return result
  }

  /// Every member with two values; `/` stands between an object and its member.
  private static let members: [(String, [any Sendable])] = [
    ("breaker/consecutiveFailures", [3, 4]), ("breaker/significance", [0.5, 0.25]),
    ("breaker/failureTime", ["1s", "2s"]), ("breaker/failureRate", [0, 0.5]), ("breaker/window", ["30s", "40s"]),
    ("breaker/minCalls", [7, 8]), ("breaker/openInterval", ["1s", "2s"]),
    ("breaker/maxOpenInterval", ["10s", "20s"]), ("breaker/probes", [1, 2]), ("maxInFlight", [8, 9]),
    ("rate/perSecond", [1, 2.5]), ("rate/burst", [4, 5]), ("retryBudget/share", [0.25, 0.5]),
    ("retryBudget/minPerSecond", [1, 3]), ("pace", ["fixed", "adaptive"]), ("newCallShare", [0.25, 0.5]),
    ("slowStart", ["5s", "6s"]), ("attemptTimeout", ["7s", "8s"]), ("tls/certificate", ["/a.pem", "/b.pem"]),
    ("tls/key", ["/a.key", "/b.key"]), ("tls/caFile", ["/a.ca", "/b.ca"]), ("tls/pins", [[pin], [String]()]),
    ("tls/minVersion", ["1.2", "1.3"]), ("tls/origins", [["https://b.example"], ["https://c.example"]]),
  ]

  private static func document(_ random: inout RandomSource, isPatch: Bool) -> [String: Any] {
    var document: [String: Any] = [:]
    for (path, values) in members {
      let parts = path.split(separator: "/").map(String.init)
      let draw = Int(random.next() % 6)
      guard draw < (isPatch ? 4 : 2) else { continue }
      let value: Any = draw < 2 ? values[draw] : NSNull()
      guard parts.count == 2 else {
        document[parts[0]] = value
        continue
      }
      var object = document[parts[0]] as? [String: Any] ?? [:]
      object[parts[1]] = value
      document[parts[0]] = object
    }
    if isPatch, random.next() % 4 == 0 {
      document[["breaker", "rate", "retryBudget", "tls"][Int(random.next() % 4)]] = NSNull()
    }
    return document
  }

  private static func text(_ value: Any) throws -> String {
    String(decoding: try JSONSerialization.data(withJSONObject: value, options: .fragmentsAllowed), as: UTF8.self)
  }

  @Test("it gives what PUT would make of the document that RFC 7396 gives, or PUT's problem")
  func reference() throws {
    var refused = 0
    for seed in 0..<3000 as Range<UInt64> {
      var random = RandomSource(seed: seed)
      let target = Self.document(&random, isPatch: false)
      let patch = Self.document(&random, isPatch: true)
      guard let before = try? Self.overrides(Self.text(target)) else { continue }
      let text = try Self.text(Self.merged(patch, into: target))
      let expected = Result { () throws(Problem) in try Self.overrides(text) }
      let patchText = try Self.text(patch)
      let found = Result { () throws(Problem) in
        try Self.read(patchText) { bytes throws(Problem) in try TargetPatch(bytes) }.applied(to: before, of: Self.key)
      }
      if case .failure = expected { refused += 1 }
      #expect(found == expected, "seed \(seed): \(target) with \(patch)")
    }
    // A key without its certificate.
    #expect(refused > 100)
  }

  // MARK: Faults

  @Test(
    "each member that is unknown or out of range is named, also where null would remove it",
    arguments: [
      (#"{"maxInFlight":0}"#, "/maxInFlight"), (#"{"maxInFlite":null}"#, "/maxInFlite"), (#"{"rate":5}"#, "/rate"),
      (#"{"breaker":{"x":null}}"#, "/breaker/x"), (#"{"tls":{"pins":[null]}}"#, "/tls/pins/0"),
      (#"{"tls":{"origins":[null]}}"#, "/tls/origins/0"), (#"{"tls":{"minVersion":"1.1"}}"#, "/tls/minVersion"),
      (#"{"pace":null,"pace":"fixed"}"#, "/pace"), ("[]", ""), ("5", ""),
    ])
  func faults(patch: String, pointer: String) {
    let problem = #expect(throws: Problem.self) { try Self.patched("{}", patch) }
    #expect(problem?.status == 422 && problem?.code == .invalidTargetSettings)
    #expect(problem?.errors.map(\.pointer) == [pointer])
    #expect(#expect(throws: Problem.self) { try Self.patched("{}", "{") }?.status == 400)
  }

  @Test("what the result lacks is named: a certificate for its key, and origins for a target that is none")
  func results() {
    let full = #"{"tls":{"certificate":"/c","key":"/k"}}"#
    let lacking = #expect(throws: Problem.self) { try Self.patched(full, #"{"tls":{"certificate":null}}"#) }
    #expect(lacking?.errors.map(\.pointer) == ["/tls/key"])
    let nowhere = #expect(throws: Problem.self) {
      try Self.patched("{}", #"{"tls":{"minVersion":"1.3"}}"#, of: "billing")
    }
    #expect(nowhere?.errors.map(\.pointer) == ["/tls/origins"])
  }

  @Test("only the files that it names itself must be in the directory for such files")
  func files() throws {
    func check(_ patch: String) throws(Problem) {
      try Self.read(patch) { bytes throws(Problem) in try TargetPatch(bytes) }.checkFiles(in: "/tls")
    }
    try check(#"{"maxInFlight":3,"tls":{"caFile":"/tls/ca.pem","key":"/tls/k"}}"#)
    try check(#"{"tls":{"caFile":null}}"#)
    let problem = #expect(throws: Problem.self) { try check(#"{"tls":{"caFile":"/etc/ca.pem"}}"#) }
    #expect(problem?.errors.map(\.pointer) == ["/tls/caFile"])
  }
}

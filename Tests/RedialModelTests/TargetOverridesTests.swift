import RedialCore
import RedialModel
import Testing
import RedialJSON

@Suite("A target's settings")
struct TargetOverridesTests {
  private func read(_ text: String) throws(Problem) -> TargetOverrides {
    let bytes = Array(text.utf8)
    let result = bytes.withUnsafeBufferPointer { bytes in
      Result { () throws(Problem) in try TargetOverrides.read(bytes) }
    }
    return try result.get()
  }

  private static let full = """
    {"breaker":{"consecutiveFailures":3,"significance":0.001,"failureTime":"1s","failureRate":0.25,"window":"30s","minCalls":7,"openInterval":"2s",\
    "maxOpenInterval":"20s","probes":2},"maxInFlight":8,"rate":{"perSecond":2.5,"burst":4},\
    "retryBudget":{"share":0.1,"minPerSecond":3},"pace":"fixed","newCallShare":0.7,"slowStart":"45s","attemptTimeout":"5s",\
    "sensitive":true,"redact":["/a","/b/*"],\
    "tls":{"certificate":"/c.pem","key":"/c.key","caFile":"/ca.pem",\
    "pins":["ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs="],"minVersion":"1.3",\
    "origins":["https://a.example","http://b.example:81"]}}
    """

  @Test("overrides are written as they were read, and all of them take effect")
  func roundTrip() throws {
    let overrides = try read(Self.full)
    #expect(String(decoding: overrides.json, as: UTF8.self) == Self.full)
    let settings = overrides.applied(to: TargetSettings())
    #expect(settings.breaker.consecutiveFailures == 3 && settings.breaker.failureRate == 0.25)
    #expect(settings.breaker.significance == 0.001 && settings.breaker.failureTime == .seconds(1))
    #expect(settings.breaker.window == .time(.seconds(30)) && settings.breaker.minimumCalls == 7)
    #expect(settings.breaker.openInterval == .seconds(2) && settings.breaker.maximumOpenInterval == .seconds(20))
    #expect(settings.breaker.halfOpenProbes == 2)
    #expect(settings.maxInFlight == 8 && settings.ratePerSecond == 2.5 && settings.rateBurst == 4)
    #expect(settings.retryShare == 0.1 && settings.retriesPerSecond == 3)
    #expect(settings.newCallShare == 0.7)
    #expect(settings.slowStart == .seconds(45) && settings.attemptTimeout == .seconds(5))
    #expect(settings.isSensitive && settings.redact.map(\.text) == ["/a", "/b/*"])
    #expect(
      settings.tls?.certificate == "/c.pem" && settings.tls?.pins.count == 1 && settings.tls?.minVersion == .tls13)
    var writer = JSONWriter()
    settings.write(to: &writer)
    #expect(String(decoding: writer.bytes, as: UTF8.self) == Self.full)
  }

  @Test("omitted settings follow the defaults, and disabled ones are off")
  func partial() throws {
    var defaults = TargetSettings(maxInFlight: 9, ratePerSecond: 3, retriesPerSecond: 5)
    #expect(try read("{}").applied(to: defaults) == defaults)
    #expect(try String(decoding: read("{}").json, as: UTF8.self) == "{}")
    defaults.breaker.failureRate = 0.5
    let off = try read(#"{"breaker":{"failureRate":0},"rate":{"perSecond":null},"retryBudget":{"minPerSecond":null}}"#)
    let settings = off.applied(to: defaults)
    #expect(settings.breaker.failureRate > 1 && settings.rateLimiter == nil && settings.retryBudget == nil)
    #expect(settings.maxInFlight == 9)
    #expect(
      try read(String(decoding: off.json, as: UTF8.self)) == off && off.json.contains(Array(#""perSecond":null"#.utf8)))
  }

  @Test(
    "each member that is unknown or out of range is named",
    arguments: [
      (#"{"maxInFlight":0}"#, "/maxInFlight"), (#"{"rate":{"perSecond":-1}}"#, "/rate/perSecond"),
      (#"{"rate":{"perSecond":0}}"#, "/rate/perSecond"),
      (#"{"retryBudget":{"minPerSecond":0}}"#, "/retryBudget/minPerSecond"),
      (#"{"rate":{"burst":1.5}}"#, "/rate/burst"), (#"{"rate":5}"#, "/rate"), (#"{"limit":5}"#, "/limit"),
      (#"{"breaker":{"failureRate":1.1}}"#, "/breaker/failureRate"), (#"{"breaker":{"x":1}}"#, "/breaker/x"),
      (#"{"breaker":{"probes":1001}}"#, "/breaker/probes"), (#"{"slowStart":"2d"}"#, "/slowStart"),
      (#"{"newCallShare":1}"#, "/newCallShare"),
      (#"{"attemptTimeout":"0s"}"#, "/attemptTimeout"), (#"{"retryBudget":{"share":2}}"#, "/retryBudget/share"),
      (#"{"tls":"x"}"#, "/tls"), (#"{"tls":{"ca":"/x"}}"#, "/tls/ca"), (#"{"tls":{"caFile":"x.pem"}}"#, "/tls/caFile"),
      (#"{"tls":{"key":"/k"}}"#, "/tls/key"), (#"{"tls":{"pins":["AAAA"]}}"#, "/tls/pins/0"),
      (#"{"tls":{"pins":"AAAA"}}"#, "/tls/pins"), (#"{"tls":{"minVersion":"1.1"}}"#, "/tls/minVersion"),
      (#"{"maxInFlight":1,"maxInFlight":2}"#, "/maxInFlight"), ("[]", ""),
    ])
  func faults(text: String, pointer: String) {
    let problem = #expect(throws: Problem.self) { try read(text) }
    #expect(problem?.status == 422 && problem?.code == .invalidTargetSettings)
    #expect(problem?.errors.map(\.pointer) == [pointer])
  }

  @Test("a text that is not JSON is a problem of its own")
  func notJSON() {
    #expect(#expect(throws: Problem.self) { try read("{") }?.status == 400)
  }
}

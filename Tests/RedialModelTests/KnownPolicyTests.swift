import RedialCore
import Testing

@testable import RedialModel
import RedialJSON

@Suite("The cache of policies")
struct KnownPolicyTests {
  private static let texts = [
    #"{}"#, #"{"maxAttempts": 3}"#, #"{"retryOn": {"statuses": ["418"]}}"#, #"{"retryOn": {"network": "never"}}"#,
    #"{"backoff": {"strategy": "fibonacci", "initial": "2s"}, "stopOn": {"statuses": ["501"]}}"#,
  ]

  @Test("a policy is the same the first time and every later time, whatever the method", arguments: texts)
  func sameEachTime(text: String) throws {
    for method in ["GET", "POST"] {
      for idempotent in [false, true] {
        let descriptor = #"{"url":"http://a/","method":"\#(method)","idempotent":\#(idempotent),"policy":\#(text)}"#
        // White space makes it a new text.
        let fresh = descriptor.replacing(
          #""policy":{"#, with: "\"policy\":{ \(String(repeating: " ", count: .random(in: 1...200)))")
        let expected = try DescriptorTests.read(fresh).spec
        for _ in 0..<2 {
          let spec = try DescriptorTests.read(descriptor).spec
          #expect(spec.policy == expected.policy)
          #expect(spec.canonicalJSON == expected.canonicalJSON)
        }
      }
    }
  }

  @Test("its canonical JSON is the one that writing it gives", arguments: texts)
  func canonical(text: String) throws {
    let spec = try DescriptorTests.read(#"{"url":"http://a/","policy":\#(text)}"#).spec
    var writer = JSONWriter()
    spec.policy.write(to: &writer)
    #expect(spec.fields.policy.json == writer.bytes)
  }

  @Test("a fault is reported each time, and never cached")
  func faults() throws {
    for _ in 0..<3 {
      let problem = #expect(throws: Problem.self) {
        try DescriptorTests.read(#"{"url":"http://a/","policy":{"maxAttempts":0}}"#)
      }
      #expect(problem?.errors.map(\.pointer) == ["/policy/maxAttempts"])
    }
  }

  @Test(
    "a text that only begins like the one before is read by itself",
    arguments: [
      (#"{"maxAttempts": 3}"#, #"{"maxAttempts": 33}"#, 33),
      (#"{"maxAttempts": 3}"#, #"{"maxAttempts": 3, "deadline": "1h"}"#, 3),
      (#"{}"#, #"{"maxAttempts": 4}"#, 4),
    ])
  func prefixes(before: String, text: String, attempts: Int) throws {
    for _ in 0..<2 {
      _ = try DescriptorTests.read(#"{"url":"http://a/","policy":\#(before)}"#)
      for rest in ["}", #","method":"PUT"}"#, " \n}"] {
        let spec = try DescriptorTests.read(#"{"url":"http://a/","policy":\#(text)\#(rest)"#).spec
        #expect(spec.policy.maxAttempts == attempts)
        #expect(spec.method == (rest.count > 5 ? "PUT" : "GET"))
      }
    }
  }

  @Test(
    "text after a known one is read as strictly as ever", arguments: ["]", "}}", #" "method":"PUT"}"#, ",}", ""])
  func strictBehind(rest: String) throws {
    _ = try DescriptorTests.read(#"{"url":"http://a/","policy":{"maxAttempts":5}}"#)
    #expect(throws: Problem.self) {
      try DescriptorTests.read(#"{"url":"http://a/","policy":{"maxAttempts":5}\#(rest)"#)
    }
  }

  @Test("the cache keeps its limit, and removed entries are read again")
  func bounded() throws {
    let known = KnownPolicies()
    for number in 0..<(3 * KnownPolicies.limit) {
      let text = Array("{\"maxAttempts\": \(number)}".utf8)
      text.withUnsafeBufferPointer { bytes in
        #expect(known.policy(readFrom: bytes) == nil)
        let remembered = known.remember(PolicyDraft(), readFrom: bytes)
        #expect(known.policy(readFrom: bytes) === remembered)
      }
      #expect(known.count <= KnownPolicies.limit)
    }
    let long = Array(repeating: UInt8(ascii: " "), count: KnownPolicies.longestText + 1)
    long.withUnsafeBufferPointer { bytes in
      _ = known.remember(PolicyDraft(), readFrom: bytes)
      #expect(known.policy(readFrom: bytes) == nil)
    }
  }
}

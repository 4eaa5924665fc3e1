import Foundation
import RedialCore
import RedialJSON
import Testing

@testable import RedialModel

/// The contract has the fields of a call as they are declared.
@Suite("The contract of a call")
struct CallContractTests {
  /// The lines of a schema's properties by their names, each without its indentation.
  private static func properties(of schema: String) throws -> [String: [String]] {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let text = try String(contentsOf: root.appending(path: "api/openapi.yaml"), encoding: .utf8)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let start = try #require(lines.firstIndex(of: "    \(schema):"), "\(schema) is not in the contract")
    let block = lines[(start + 1)...].prefix { $0.hasPrefix("     ") }
    let list = try #require(block.firstIndex(of: "      properties:"), "\(schema) has no properties")
    var (properties, name): ([String: [String]], String) = ([:], "")
    for line in block[(list + 1)...] {
      let indentation = line.prefix { $0 == " " }.count
      guard indentation >= 8 else { break }
      if indentation == 8 {
        let colon = try #require(line.firstIndex(of: ":"))
        name = String(line[..<colon].dropFirst(8))
        properties[name] = []
      }
      properties[name]?.append(line.trimmingCharacters(in: .whitespaces))
    }
    return properties
  }

  private static func number(_ word: String, in lines: [String]) -> Int? {
    lines.lazy.compactMap { $0.hasPrefix("\(word): ") ? Int($0.dropFirst(word.count + 2)) : nil }.first
  }

  @Test("a descriptor has the members that a client may give, and no others")
  func given() throws {
    let declared = CallFields.uses.filter { $0.uses.contains(.given) }.map(\.name)
    #expect(try Set(Self.properties(of: "CallDescriptor").keys) == Set(declared))
  }

  @Test("a call is shown with the fields that are shown, and what the contract does not name is not shown")
  func shown() throws {
    let spec = CallSpec(
      url: "http://a/", method: "GET", headers: [HeaderField("A", "b")], target: TargetKey("t", in: .default),
      policy: .service, captureLimit: 1
    ) {
      $0.labels = [.init(name: "a", value: "b")]
      $0.description = "d"
      $0.callback = Callback(url: "http://b/")
      $0.maxRedirects = 1
      $0.orderingKey = "k"
      $0.priority = 1
      $0.policyName = "p@1"
      $0.replayOf = CallID(rawValue: 1)
      $0.contentErasedAt = .epoch
      $0.hops = 1
      $0.delay = .seconds(1)
    }
    var writer = JSONWriter()
    writer.beginObject()
    spec.show(hiding: Redaction(), to: &writer)
    writer.endObject()
    let written = try #require(
      try JSONSerialization.jsonObject(with: Data(writer.bytes)) as? [String: Any])
    let declared = CallFields.uses.filter { $0.uses.contains(.shown) }.map {
      $0.name == "policyName" ? "policy" : $0.name
    }
    #expect(Set(written.keys) == Set(declared))
    #expect(try Set(declared).isSubset(of: Self.properties(of: "CallBase").keys))
  }

  @Test("the bounds of numbers and texts are those that a descriptor is read with")
  func bounds() throws {
    func isAccepted(_ name: String, _ value: String) -> Bool {
      (try? DescriptorTests.read(#"{"url":"http://a/","\#(name)":\#(value)}"#)) != nil
    }
    var found = 0
    for (name, lines) in try Self.properties(of: "CallDescriptor") {
      // Members of members have bounds of their own.
      let own = lines.prefix { !$0.hasPrefix("properties:") }
      if let least = Self.number("minimum", in: Array(own)), let most = Self.number("maximum", in: Array(own)) {
        found += 1
        #expect(isAccepted(name, "\(least)") && isAccepted(name, "\(most)"), "\(name)")
        #expect(!isAccepted(name, "\(least - 1)") && !isAccepted(name, "\(most + 1)"), "\(name)")
      }
      if let most = Self.number("maxLength", in: Array(own)) {
        found += 1
        func text(_ length: Int) -> String { "\"\(String(repeating: "x", count: length))\"" }
        #expect(isAccepted(name, text(most)) && !isAccepted(name, text(most + 1)), "\(name)")
      }
    }
    // Priority, target, ordering key and description.
    #expect(found >= 4)
  }

  @Test("a call and a policy of an earlier build are read, with other orders of members and one that has gone")
  func earlier() throws {
    let text = #"""
      {"url":"http://a/","method":"GET","policy":{"maxAttempts":3,"onExhausted":"fail"},"policyName":"p@1",\#
      "namespace":"acme","target":"t","priority":2,"capture":{"maxBytes":5}}
      """#
    for _ in 0..<2 {
      let spec = try Array(text.utf8).withUnsafeBufferPointer { try CallSpec.read(canonicalJSON: $0) }
      #expect(spec.policy.maxAttempts == 3 && spec.policyName == "p@1" && spec.priority == 2)
      #expect(spec.target == TargetKey("t", in: try #require(Namespace("acme"))))
      // No client may give it, also if the same bytes were read before.
      #expect(throws: Problem.self) {
        try DescriptorTests.read(#"{"url":"http://a/","policy":{"maxAttempts":3,"onExhausted":"fail"}}"#)
      }
    }
    let document = Array(
      #"{"name":"p","version":1,"createdAt":5,"policy":{"maxAttempts":3,"onExhausted":"fail"}}"#.utf8)
    let policy = try document.withUnsafeBufferPointer { try StoredPolicy($0) }
    #expect(String(decoding: policy.json, as: UTF8.self) == #"{"maxAttempts":3}"#)
  }

  @Test("what a call is for is one line, and goes with its content")
  func descriptions() throws {
    for wrong in ["", "a\\nb", String(repeating: "x", count: 256)] {
      #expect(throws: Problem.self) { try DescriptorTests.read(#"{"url":"http://a/","description":"\#(wrong)"}"#) }
    }
    let spec = try DescriptorTests.read(#"{"url":"http://a/","description":"for you"}"#).spec
    #expect(spec.fields.description == "for you" && !spec.isErased(keepingLabels: true))
    #expect(spec.erased(at: .epoch).fields.description == nil)
  }
}

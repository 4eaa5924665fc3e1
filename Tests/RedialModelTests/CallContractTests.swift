import Foundation
import RedialCore
import RedialJSON
import Testing

@testable import RedialModel

/// What the contract takes from declarations, which `Scripts/generate` writes into it, is what is read and shown.
@Suite("The contract's declarations")
struct CallContractTests {
  /// A schema, and how an object that it describes is read.
  private struct Declared: Sendable {
    let path: String
    /// The text around an object, and the pointer to that.
    var around = ("", "")
    var pointer = ""
    /// The members that an object always has.
    var usual: [String: String] = [:]
    let read: @Sendable (UnsafeBufferPointer<UInt8>) throws -> Void

    /// The faults of an object's members, by their pointers.
    func faults(_ object: String) -> [Problem.Fault] {
      do {
        try Array((around.0 + object + around.1).utf8).withUnsafeBufferPointer { try read($0) }
        return []
      } catch let problem as Problem {
        return problem.errors
      } catch {
        Issue.record(error)
        return []
      }
    }
  }

  private static let declared = [
    Declared(path: "CallDescriptor", usual: ["url": "\"http://a/\""]) { _ = try CallDescriptor.read($0) },
    Declared(path: "Policy", around: (#"{"url":"http://a/","policy":"#, "}"), pointer: "/policy") {
      _ = try CallDescriptor.read($0)
    },
    Declared(path: "Redirects", around: (#"{"url":"http://a/","redirects":"#, "}"), pointer: "/redirects") {
      _ = try CallDescriptor.read($0)
    },
    Declared(path: "CallFilter", around: (#"{"action":"retry","filter":"#, "}"), pointer: "/filter") {
      _ = try BulkRequest.read($0, rate: 1, at: .epoch)
    },
    Declared(path: "BulkRequest", usual: ["action": "\"retry\""]) {
      _ = try BulkRequest.read($0, rate: 1, at: .epoch)
    },
    Declared(path: "IssueChange") { _ = try IssueMarkRequest.read($0, at: .epoch) },
    Declared(path: "AlertDraft") { _ = try AlertDraft.read($0, isNew: false, in: .default, limits: .init()) },
    Declared(path: "Silence") { _ = try SilenceRequest.read($0, at: .epoch) },
    Declared(path: "Attribution") { _ = try Attribution.read($0) },
    Declared(path: "TargetSettings") { _ = try TargetOverrides.read($0) },
    Declared(path: "WebhookEndpointDraft") { _ = try WebhookEndpointDraft.read($0, limits: .init()) },
    Declared(path: "APIKeyDraft") { _ = try APIKeyDraft.read($0) },
  ]

  private static func schemas() throws -> [String: [String: Any]] {
    let list = try #require(
      try JSONSerialization.jsonObject(with: Data(ContractDeclarations.json)) as? [[String: Any]])
    return Dictionary(
      list.compactMap { entry in (entry["path"] as? String).map { ($0, entry["schema"] as? [String: Any] ?? [:]) } }
    ) { first, _ in first }
  }

  /// Values of a member that are read, and others that are refused, as far as its schema says.
  private static func values(_ schema: [String: Any]) -> (right: [String], wrong: [String]) {
    if let words = (schema["enum"] as? [Any])?.compactMap({ $0 as? String }) {
      return (words.map { "\"\($0)\"" }, ["\"no such word\""])
    }
    if let most = schema["maxLength"] as? Int, schema["pattern"] == nil {
      func text(_ length: Int) -> String { "\"\(String(repeating: "x", count: length))\"" }
      let least = schema["minLength"] as? Int ?? 0
      return ([text(max(1, least)), text(most)], [text(most + 1)] + (least > 0 ? [text(least - 1)] : []))
    }
    guard let least = schema["minimum"] as? Double else { return ([], []) }
    let most = schema["maximum"] as? Double
    return (
      [least, most].compactMap { $0.map(number) }, [least - 1, most.map { $0 + 1 }].compactMap { $0.map(number) }
    )
  }

  private static func number(_ value: Double) -> String { Int(exactly: value).map { "\($0)" } ?? "\(value)" }

  @Test("each member is known, with the bounds and words that it is read with", arguments: declared)
  private func read(_ declared: Declared) throws {
    let schema = try #require(try Self.schemas()[declared.path])
    var found = 0
    func check(_ schema: [String: Any], _ pointer: String, _ object: (_ name: String, _ value: String) -> String) {
      for case (let name, let member as [String: Any]) in schema["properties"] as? [String: Any] ?? [:] {
        found += 1
        let place = "\(pointer)/\(name)"
        #expect(
          !declared.faults(object(name, "[{}]")).contains { $0.pointer == place && $0.detail.hasPrefix("is not a m") })
        let values = Self.values(member)
        // A member may be refused because of others, in other words.
        func isRefused(_ value: String) -> Bool {
          declared.faults(object(name, value)).contains {
            $0.pointer == place && ["must", "is longer than"].contains(where: $0.detail.hasPrefix)
          }
        }
        for value in values.right where place != "/url" { #expect(!isRefused(value), "\(place) \(value)") }
        for value in values.wrong { #expect(isRefused(value), "\(place) \(value)") }
        let isRequired = (schema["required"] as? [String])?.contains(name) == true
        // Null is the same as leaving it out; in a filter that would select more than was meant.
        if !isRequired, name != "json" {
          #expect(isRefused("null") == (declared.path == "CallFilter"), "\(place) null")
        }
        check(member, place) { object(name, "{\"\($0)\":\($1)}") }
      }
      #expect(
        schema["properties"] == nil || declared.faults(object("x", "1")).contains { $0.pointer == "\(pointer)/x" })
    }
    check(schema, declared.pointer) { name, value in
      let members = declared.usual.merging([name: value]) { $1 }
      return "{\(members.map { "\"\($0)\":\($1)" }.joined(separator: ","))}"
    }
    #expect(found > 0)
  }

  @Test("a call is shown with fields that are declared as shown, by their names")
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
    #expect(Set(written.keys).isSubset(of: CallFields.shownSchemas.map(\.name)) && written.count > 10)
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

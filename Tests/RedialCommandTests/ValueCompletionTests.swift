import Testing

@testable import redial

@Suite("the completion of values")
struct ValueCompletionTests {
  private static func completion(_ line: String) -> ValueCompletion? {
    ValueCompletion(
      line.split(separator: " ", omittingEmptySubsequences: false).map(String.init), of: RedialTool.commands)
  }

  @Test("an option's value is known by its option, in either form, and an operand by its place")
  func kinds() {
    for (line, kind, prefix) in [
      ("list --state fa", ValueKind.callState, "fa"), ("list --state=fa", .callState, "fa"), ("targets ", .target, ""),
      ("targets --active http", .target, "http"), ("targets -- -x", .target, "-x"),
      ("get --json call_", .call, "call_"),
      ("ops show ", .operation, ""), ("ops create re", .bulkAction, "re"), ("keys revoke k", .apiKey, "k"),
      ("webhooks redeliver ", .delivery, ""), ("list --namespace=", .namespace, ""), ("call --policy p", .policy, "p"),
      ("ops create --rate 5 ", .bulkAction, ""),
    ] {
      let found = Self.completion(line)
      #expect(found?.kind == kind && found?.prefix == prefix, "\(line): \(String(describing: found))")
    }
    for line in [
      "", "list", "nobody ", "list --limit ", "list --sta", "list x", "targets k ", "ops list ", "list --json=a",
    ] {
      #expect(Self.completion(line) == nil, "\(line)")
    }
  }

  @Test("the line says which service to ask; a key on it is for that service")
  func service() {
    let found = Self.completion("targets --server http://a --api-key=k --namespace n --set {} x")
    #expect(found?.server == "http://a" && found?.key == "k" && found?.namespace == "n")
    #expect(Self.completion("targets --url http://a x")?.server == "http://a")
    #expect(Self.completion("targets x")?.server == nil)
  }

  @Test("of a list the last element is completed, and none twice")
  func lists() {
    let found = Self.completion("events --type call.failed,call.")
    #expect(found?.lead == "call.failed," && found?.prefix == "call.")
    let values = ["call.failed", "call.succeeded", "target.down"].compactMap { CompletedValue($0, nil) }
    #expect(found?.lines(values) == ["call.failed,call.succeeded"])
    // A target's key may have commas.
    #expect(Self.completion("targets a,b")?.prefix == "a,b")
  }

  @Test("a value that would not fit in a line of a terminal is not offered, and its description is made to fit")
  func lines() {
    #expect(CompletedValue("a\nb", nil) == nil && CompletedValue("", nil) == nil && CompletedValue(nil, nil) == nil)
    #expect(CompletedValue("a\u{1B}[2J", nil) == nil)
    #expect(CompletedValue("a", "x\ty")?.description == "x\\u0009y")
    let value = CompletedValue("call_1", "failed GET http://a")
    #expect(Self.completion("get call_")?.lines([value].compactMap { $0 }) == ["call_1\tfailed GET http://a"])
  }

  @Test("a form of words has their values, another form has none")
  func forms() {
    #expect(ValueKind(form: "true or false") == .words(["true", "false"]))
    #expect(ValueKind(form: "private or public or listed") == .words(["private", "public", "listed"]))
    #expect(ValueKind(form: "1.2 or 1.3") == .words(["1.2", "1.3"]))
    for form in ["1 or more", "HOST:PORT or unix:PATH", "duration", "ADDRESS[/BITS] or unix,...", "", "a or", "a b c"] {
      #expect(ValueKind(form: form) == nil, "\(form)")
    }
  }

  @Test("what only the service knows has a path, and everything else has words")
  func sources() {
    for command in RedialTool.commands {
      for kind in command.options.compactMap(\.values) + command.operandValues.map(\.kind) {
        #expect((kind.path(prefix: "") == nil) == (kind.words != nil), "\(command.name): \(kind)")
      }
    }
    #expect(ValueKind.target.path(prefix: "a b") == "/v1/targets?limit=250&cursor=a%20b")
  }

  @Test("a revoked key is not offered, and no key's text is")
  func keys() throws {
    let answer = try JSONValue(
      parsing: Array(
        """
        {"data": [{"id": "key_1", "name": "ci", "key": "text", "revokedAt": null},
          {"id": "key_2", "name": "old", "revokedAt": "2026-12-01T09:00:00.000Z"}]}
        """.utf8))
    #expect(ValueKind.apiKey.values(in: answer) == [CompletedValue("key_1", "ci")].compactMap { $0 })
  }
}

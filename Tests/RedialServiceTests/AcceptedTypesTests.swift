import Testing

@testable import RedialService

@Suite("The media types that a client accepts (RFC 9110 section 12.5.1)")
struct AcceptedTypesTests {
  @Test(
    "lines are sent if they are named, and with no lower weight than JSON",
    arguments: [
      (nil, false), ("", false), ("*/*", false), ("application/*", false), ("application/json", false),
      ("application/x-ndjson", true), ("Application/NDJSON", true), ("application/jsonl;q=0.001", true),
      ("application/x-ndjson, application/json", true), ("application/json, application/x-ndjson", true),
      ("application/x-ndjson;charset=utf-8", true), ("text/html,application/x-ndjson , */*", true),
      ("application/x-ndjson;q=0", false), ("application/x-ndjson;q=0.000", false),
      ("application/json;q=1, application/x-ndjson;q=0", false),
      ("application/x-ndjson;q=0.1, application/json", false),
      ("application/x-ndjson;q=0.1,application/json;q=0", true),
      ("application/x-ndjson; q=0.5, */*;q=0.8", false), ("application/x-ndjson ; Q=0.9, */*;q=0.8", true),
      ("application/x-ndjson;q=0.5, application/*;q=0.6, */*;q=0.4", false),
      ("application/x-ndjson;q=0.5, application/*;q=0.4, */*;q=0.6", true),
      ("application/x-ndjson;q=much", false), ("application/x-ndjson;q=", false), ("application/x-ndjson;q=1.1", false),
      ("application/x-ndjson, application/x-ndjson;q=0", false), ("application/ndjson;q=0, application/jsonl", true),
    ] as [(String?, Bool)])
  func lines(accept: String?, isWanted: Bool) {
    #expect(JSONLines.isWanted(accept) == isWanted)
  }

  @Test(
    "a picture is sent if it is named and JSON is not, or has a lower weight",
    arguments: [
      (nil, false), ("*/*", false), ("image/*", false), ("image/svg+xml", true), ("image/svg+xml;q=0", false),
      ("image/avif,image/webp,image/svg+xml,image/*,*/*;q=0.8", true), ("image/svg+xml, */*", true),
      ("image/svg+xml, application/json", false), ("image/svg+xml, application/json;q=0.9", true),
      ("image/svg+xml;q=0.1, application/json", false), ("image/svg+xml, application/json;q=0", true),
      ("image/svg+xml;q=0.1, */*", false),
    ] as [(String?, Bool)])
  func pictures(accept: String?, isWanted: Bool) {
    #expect(AcceptedTypes(accept).prefers(["image/svg+xml"]) == isWanted)
  }
}

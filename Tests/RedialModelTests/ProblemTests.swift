import Foundation
import RedialModel
import Testing

@Suite("Problems")
struct ProblemTests {
  @Test("a problem has the form of RFC 9457, with its code and its faults, each at its place")
  func form() throws {
    let problem = Problem(
      .invalidBatch, status: 413, detail: "\"url\" é",
      errors: [
        .init(pointer: "/url", detail: "x"), .init(parameter: "limit", detail: "y"), .init(header: "Host", detail: "z"),
      ])
    let shown = try #require(try JSONSerialization.jsonObject(with: Data(problem.json)) as? [String: Any])
    #expect(shown["type"] as? String == "urn:redial:problem:invalidBatch" && shown["code"] as? String == "invalidBatch")
    #expect(shown["status"] as? Int == 413 && shown["title"] as? String == "The batch cannot be accepted")
    #expect(shown["detail"] as? String == "\"url\" é")
    #expect(
      shown["errors"] as? [[String: String]] == [
        ["pointer": "/url", "detail": "x"], ["parameter": "limit", "detail": "y"], ["header": "Host", "detail": "z"],
      ])
  }

  @Test(
    "the detail of a problem with one fault says where it is",
    arguments: [
      (Problem.Place.Kind.pointer, "/url", "/url is wrong."), (.pointer, "", "The body is wrong."),
      (.parameter, "limit", "The parameter limit is wrong."), (.header, "Host", "The field Host is wrong."),
    ])
  func place(_ kind: Problem.Place.Kind, _ name: String, _ detail: String) {
    let place = Problem.Place(kind, name)
    let problem = Problem(.invalidDescriptor, at: place, "is wrong")
    #expect(problem.detail == detail && problem.status == 422)
    #expect(problem.errors == [Problem.Fault(place, detail: "is wrong")])
  }

  @Test(
    "a key that no target has is explained, with the origin that may be meant",
    arguments: [
      ("https://api.example.com/charges?x=1", "https://api.example.com"),
      ("api.example.com", "https://api.example.com"),
      ("api.example.com:8443/x", "https://api.example.com:8443"), ("http:/api.example.com", "http://api.example.com"),
      ("https://api.example.com", nil), ("billing", nil),
    ])
  func unknownTarget(_ key: String, _ meant: String?) {
    let problem = Problem.targetNotFound(key)
    #expect(problem.status == 404 && problem.detail.contains("\"\(key)\"") && problem.detail.contains("URL's origin"))
    let encoded = meant?.replacing(":", with: "%3A").replacing("/", with: "%2F")
    let advice = encoded.map { "GET /v1/targets/\($0)." } ?? "GET /v1/targets lists the keys."
    #expect(problem.detail.hasSuffix(advice), "\(problem.detail)")
  }

  @Test("faults that are restated change the detail, too")
  func restated() {
    let problem = Problem(.invalidOption, at: .init(.pointer, "/delay"), "is wrong")
    let restated = problem.restated { .init(header: "Redial-Delay", detail: $0.detail) }
    #expect(restated.detail == "The field Redial-Delay is wrong." && restated.errors.map(\.header) == ["Redial-Delay"])
  }

  @Test("each code has a title of its own, statuses of errors, a cause and a remedy", arguments: ProblemCode.allCases)
  func declaration(_ code: ProblemCode) {
    let declaration = code.declaration
    #expect(!declaration.statuses.isEmpty && declaration.statuses.allSatisfy((400...599).contains))
    #expect(ProblemCode.allCases.filter { $0.declaration.title == declaration.title } == [code])
    #expect(declaration.title.first?.isUppercase == true && declaration.title.last != ".")
    for sentence in [declaration.cause, declaration.remedy] {
      #expect(sentence.hasSuffix(".") && !sentence.contains("  ") && !sentence.contains("|"), "\(sentence)")
    }
  }
}

import Foundation
import RedialClient
import RedialTestSupport
import Testing

@Suite("Types that are made from the contract")
struct ContractTypesTests {
  private func text(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  private func read<Value: Decodable>(_ type: Value.Type, _ json: String) throws -> Value {
    try JSONDecoder().decode(type, from: Data(json.utf8))
  }

  @Test("a patch leaves out what stays, and says null for what is removed")
  func patches() throws {
    var patch = RedialAPI.TargetPatch(maxInFlight: .value(4), rate: .null, slowStart: .value(.seconds(90)))
    #expect(try text(patch) == #"{"maxInFlight":4,"rate":null,"slowStart":"90s"}"#)
    patch.rate = .value(RedialAPI.TargetPatch.Rate(burst: .null))
    #expect(try text(patch) == #"{"maxInFlight":4,"rate":{"burst":null},"slowStart":"90s"}"#)
    #expect(try text(RedialAPI.TargetPatch()) == "{}")
  }

  @Test("a policy is read with what it says, and written with nothing else")
  func policies() throws {
    let unlimited = try read(RedialAPI.Policy.self, #"{"maxAttempts": null, "deadline": "3d", "later": 1}"#)
    #expect(unlimited.maxAttempts == nil && unlimited.deadline == .seconds(3 * 86_400))
    #expect(try text(unlimited) == #"{"deadline":"3d"}"#)
    #expect(try read(RedialAPI.Policy.self, #"{"maxAttempts": 3}"#).maxAttempts == 3)
  }

  @Test("a time in a request is one of the day, or counted from the request")
  func moments() throws {
    let change = RedialAPI.IssueChange(state: .acknowledged, until: .after(.seconds(3600)), by: "ada")
    #expect(try text(change) == #"{"by":"ada","state":"acknowledged","until":"1h"}"#)
    let date = Date(timeIntervalSince1970: 1_796_115_600)
    #expect(try text(RedialAPI.Silence(silenced: true, until: .at(date))).contains("2026-12-01T09:00:00.000Z"))
    #expect(
      try read([RedialAPI.Moment].self, #"["2026-12-01T09:00:00.000Z", "1h"]"#) == [.at(date), .after(.seconds(3600))])
    #expect(throws: DecodingError.self) { try read([RedialAPI.Moment].self, #"["soon"]"#) }
  }

  @Test("a word of a later version is kept")
  func words() throws {
    let state = try read(RedialAPI.IssueState.self, #""postponed""#)
    #expect(state.rawValue == "postponed" && state != .open)
    let code: RedialProblem.Code = "callEnded"
    #expect(code == .callEnded && RedialProblem.Code(rawValue: "tooLate") == "tooLate")
  }

  @Test("conditions are the same in an operation as in its answer")
  func filters() throws {
    var filter = CallFilter(
      state: [.failed], target: "billing", labels: ["team": "a"], createdAfter: Date(timeIntervalSince1970: 0),
      olderThan: .seconds(900), attempts: 3, status: 500...599, failureReason: .tripped, url: "charges")
    #expect(try read(CallFilter.self, text(filter)) == filter)
    filter.state = [.failed, .cancelled]
    #expect(try read(CallFilter.self, text(filter)) == filter)
    #expect(
      try read(CallFilter.self, #"{"state": "failed", "status": "503"}"#)
        == CallFilter(state: [.failed], status: 503...503))
    #expect(try text(CallFilter()) == "{}")
  }

  @Test("any JSON value is read and written as it is")
  func values() throws {
    let value: RedialJSON = ["a": [1, 2.5, "x", true, nil], "b": [:]]
    #expect(try read(RedialJSON.self, text(value)) == value)
    #expect(try text(value) == #"{"a":[1,2.5,"x",true,null],"b":{}}"#)
  }
}

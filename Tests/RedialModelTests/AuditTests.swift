import RedialCore
import Testing

@testable import RedialModel

@Suite("The audit log")
struct AuditTests {
  private func difference(_ before: String?, _ after: String?, kept: Set<String>? = nil) -> [String] {
    let found = AuditDifference.between(before.map { Array($0.utf8) }, after.map { Array($0.utf8) }, kept: kept)
    return [found.before, found.after].map { String(decoding: $0.bytes, as: UTF8.self) }
  }

  @Test("only the members that differ are kept")
  func differences() {
    #expect(
      difference(#"{"a": 1, "b": {"c": [1]}, "d": 2}"#, #"{"a":1,"b":{"c":[2]},"e":3}"#) == [
        #"{"b":{"c": [1]},"d":2}"#, #"{"b":{"c":[2]},"e":3}"#,
      ])
    #expect(difference(nil, #"{"a": 1}"#) == ["", #"{"a":1}"#])
    #expect(difference(#"{"a": 1}"#, nil) == [#"{"a":1}"#, ""])
    #expect(difference(#"{"a":1}"#, #"{"a":1}"#) == ["", ""])
    #expect(difference(#"{"a":1,"b":1}"#, #"{"a":2,"b":2}"#, kept: ["b"]) == [#"{"b":1}"#, #"{"b":2}"#])
    #expect(difference("no", "[]") == ["", ""])
  }

  @Test("ids sort by time, and those of a time are behind what begins it")
  func ids() {
    let (early, late) = (Timestamp(microseconds: 255), Timestamp(microseconds: 256))
    let id = AuditRecord.id(at: early, .max)
    #expect(id == "audit_000000000000ffffffffff" && AuditRecord.isID(id))
    #expect(AuditRecord.firstID(at: early) < id && id < AuditRecord.firstID(at: late))
    #expect(AuditRecord.firstID(at: late) < AuditRecord.id(at: late, 0))
    for text in ["", "audit_", "audit_000000000000fffffffffg", "audit_000000000000ffffffffffff"] {
      #expect(!AuditRecord.isID(text))
    }
  }

  @Test("a record is stored whole, and one without an action is damaged")
  func records() throws {
    var record = AuditRecord()
    (record.id, record.at, record.action) = (AuditRecord.id(at: .epoch, 1), Timestamp(microseconds: 7), "later.word")
    (record.actorKind, record.actor, record.object) = (.person, "ada@example.com", "orders")
    record.after = RawJSON(Array(#"{"paused":true}"#.utf8))
    #expect(AuditRecord(document: record.document.content) == record)
    record.action = ""
    #expect(AuditRecord(document: record.document.content) == nil)
  }
}

import RedialModel
import Testing

@testable import RedialService

@Suite("Findings of audits")
struct AuditFindingsTests {
  private func calls(_ numbers: Int64...) -> [HeldCall] {
    numbers.map { HeldCall(CallID(rawValue: $0), at: TargetKey("t")) }
  }

  @Test("a call counts as missing once two audits in a row miss it")
  func twice() {
    var findings = AuditFindings()
    #expect(findings.add(calls(1, 2)) == [])
    #expect(findings.add(calls(2, 3)) == calls(2))
    #expect(findings.add([]) == [])
    #expect(findings.add(calls(3)) == [])
  }

  @Test("only so many calls are remembered")
  func bounded() {
    var findings = AuditFindings()
    let many = (0..<Int64(AuditFindings.most) + 10).map { HeldCall(CallID(rawValue: $0), at: TargetKey("t")) }
    _ = findings.add(many)
    #expect(findings.add(many).count == AuditFindings.most)
  }
}

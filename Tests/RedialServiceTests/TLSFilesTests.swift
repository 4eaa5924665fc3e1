import RedialModel
import Testing

@testable import RedialService

@Suite("Files of targets that were set before")
struct TLSFilesTests {
  private func state(_ tls: TargetTLS, of target: TargetKey) -> RecoveredState {
    var overrides = TargetOverrides()
    overrides.tls = tls
    overrides.maxInFlight = 3
    var state = RecoveredState()
    state.controls = [(target, TargetControls(overrides: overrides, isPaused: true))]
    return state
  }

  @Test("files outside the directory are not applied, and everything else is")
  func outside() throws {
    let tls = TargetTLS(certificate: "/old/a.pem", key: "/tls/a.key", caFile: "/tls/ca.pem", minVersion: .tls13)
    var state = state(tls, of: "t")
    let found = state.leaveOutFiles(outside: "/tls")
    #expect(found.map(\.target) == ["t"] && found.first?.members == ["/tls/certificate"])
    let controls = try #require(state.controls.first?.controls)
    #expect(controls.overrides.tls == TargetTLS(caFile: "/tls/ca.pem", minVersion: .tls13))
    #expect(controls.isPaused && controls.overrides.maxInFlight == 3)
  }

  @Test("without a directory no file is applied, and all those inside it are")
  func all() {
    let tls = TargetTLS(certificate: "/tls/a.pem", key: "/tls/a.key", caFile: "/tls/ca.pem")
    var without = state(tls, of: "t")
    #expect(without.leaveOutFiles(outside: nil).first?.members.count == 3)
    #expect(without.controls.first?.controls.overrides.tls == nil)
    var within = state(tls, of: "t")
    #expect(within.leaveOutFiles(outside: "/tls").isEmpty)
    #expect(within.controls.first?.controls.overrides.tls == tls)
  }

  @Test("a namespace keeps the files of its own directory")
  func namespaces() throws {
    let acme = try #require(Namespace("acme"))
    var state = state(TargetTLS(caFile: "/tls/acme/ca.pem"), of: TargetKey("t", in: acme))
    #expect(state.leaveOutFiles(outside: "/tls/").isEmpty)
    var others = self.state(TargetTLS(caFile: "/tls/ca.pem"), of: TargetKey("t", in: acme))
    #expect(others.leaveOutFiles(outside: "/tls").count == 1)
  }
}

import RedialModel
import Testing

@Suite("Files in a target's TLS settings")
struct TLSFilesTests {
  @Test("outside the directory do not apply, and everything else does")
  func outside() {
    let tls = TargetTLS(certificate: "/old/a.pem", key: "/tls/a.key", caFile: "/tls/ca.pem", minVersion: .tls13)
    let (applicable, leftOut) = tls.applicable(in: "/tls")
    #expect(applicable == TargetTLS(caFile: "/tls/ca.pem", minVersion: .tls13))
    #expect(leftOut == ["/tls/certificate"])
  }

  @Test("do not apply without a directory, and all those inside it do")
  func all() {
    let tls = TargetTLS(certificate: "/tls/a.pem", key: "/tls/a.key", caFile: "/tls/ca.pem")
    let without = tls.applicable(in: nil)
    #expect(without.tls == nil && without.leftOut.count == 3)
    let within = tls.applicable(in: "/tls")
    #expect(within.tls == tls && within.leftOut.isEmpty)
  }

  @Test("of a namespace are in its own directory")
  func namespaces() throws {
    let acme = try #require(Namespace("acme"))
    let directory = acme.tlsDirectory(in: "/tls/")
    #expect(TargetTLS(caFile: "/tls/acme/ca.pem").applicable(in: directory).leftOut.isEmpty)
    #expect(TargetTLS(caFile: "/tls/ca.pem").applicable(in: directory).leftOut == ["/tls/caFile"])
    #expect(Namespace.default.tlsDirectory(in: "/tls") == "/tls" && acme.tlsDirectory(in: nil) == nil)
  }
}

import Polling
import Foundation
import Glibc
import RedialModel
import RedialStore
import Testing

@testable import RedialPostgres

@Suite("Connections that others could listen to", .serialized)
struct SecurityTests {
  /// A cluster on a port of 127.0.0.1, with a certificate for `localhost` from an authority of the tests', and a role whose
  /// password has characters that a URL must encode.
  private final class SecureCluster {
    let cluster: Cluster
    let port: Int
    static let password = "pä ss/w:o@rd%"
    private static let encoded = "p%C3%A4%20ss%2Fw%3Ao%40rd%25"

    init() throws {
      port = Self.freePort()
      cluster = Cluster(["listen_addresses = '127.0.0.1'", "port = \(port)"])
      func openssl(_ arguments: String...) { Cluster.run("/usr/bin/openssl", arguments) }
      let (data, folder) = (cluster.data, cluster.folder)
      for name in ["ca", "other"] {
        openssl(
          "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=\(name)",
          "-keyout",
          "\(folder)/\(name).key", "-out", "\(folder)/\(name).pem")
      }
      openssl(
        "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout",
        "\(data)/server.key", "-out",
        "\(folder)/server.csr")
      openssl(
        "x509", "-req", "-in", "\(folder)/server.csr", "-CA", "\(folder)/ca.pem", "-CAkey",
        "\(folder)/ca.key",
        "-CAcreateserial", "-days", "2", "-out", "\(data)/server.crt")
      for file in ["ca.pem", "other.pem"] { chmod("\(folder)/\(file)", 0o644) }
      let admin = try PostgresConnection(
        PostgresSettings("postgresql://postgres@/postgres?host=\(folder)&port=\(port)"))
      try admin.execute(
        ["CREATE ROLE me LOGIN SUPERUSER PASSWORD '\(Self.password)'"], purpose: "make a role",
        within: .seconds(60))
      cluster.reload(
        ["ssl = on"],
        access: [
          "local all all trust", "hostssl all all 127.0.0.1/32 scram-sha-256",
          "hostnossl all all 127.0.0.1/32 scram-sha-256",
        ])
    }

    /// Why no connection can be made; nil if one can.
    func refusal(
      _ parameters: String, host: String = "localhost", password: String? = nil, inURL: Bool = true
    ) -> StoreError? {
      let credentials = inURL ? "me:\(Self.encoded)" : "me"
      let location = "postgresql://\(credentials)@\(host):\(port)/postgres?\(parameters)"
      do throws(PostgresFailure) {
        _ = try PostgresConnection(PostgresSettings(location, password: password))
        return nil
      } catch {
        return error.error(at: PostgresSettings(location).place)
      }
    }

    /// A port that nobody else gets: it stays bound until the process ends. PostgreSQL's sockets share addresses with those
    /// that do not listen.
    private static func freePort() -> Int {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      var one: Int32 = 1
      setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          _ = bind(descriptor, address, length)
          _ = getsockname(descriptor, address, &length)
        }
      }
      return Int(UInt16(bigEndian: address.sin_port))
    }
  }

  @Test("a server is known by its certificate, and the password travels by SCRAM bound to it")
  func encrypted() throws {
    let server = try SecureCluster()
    defer { server.cluster.remove() }
    let folder = server.cluster.folder
    let verified = "sslmode=verify-full&sslrootcert=\(folder)/ca.pem"
    #expect(server.refusal(verified) == nil)
    #expect(server.refusal(verified + "&channel_binding=require") == nil)
    // The name is not in the certificate, and another authority has not signed it.
    let name = try #require(server.refusal(verified, host: "127.0.0.1"))
    #expect(name.message.contains("does not match host name"), "\(name.message)")
    let other = try #require(server.refusal("sslmode=verify-full&sslrootcert=\(folder)/other.pem"))
    #expect(
      other.message.contains("certificate verify failed")
        && other.message.contains("Set sslrootcert"))
    // Without encryption there is nothing to bind to.
    let unbound = try #require(server.refusal("sslmode=disable&channel_binding=require"))
    #expect(unbound.message.contains("channel binding"), "\(unbound.message)")
    for error in [name, other, unbound] {
      #expect(!error.message.contains("ss/w") && !error.message.contains("ss%2Fw"))
    }
  }

  @Test("the password comes from the URL, from beside it or from a file, and no error shows it")
  func passwords() throws {
    let server = try SecureCluster()
    defer { server.cluster.remove() }
    let plain = "sslmode=disable"
    #expect(server.refusal(plain) == nil)
    #expect(server.refusal(plain, password: SecureCluster.password, inURL: false) == nil)
    let file = server.cluster.folder + "/pass"
    let escaped = SecureCluster.password.replacing(":", with: "\\:")
    try "localhost:*:*:me:\(escaped)\n".write(toFile: file, atomically: false, encoding: .utf8)
    chmod(file, 0o600)
    #expect(server.refusal(plain + "&passfile=\(file)", inURL: false) == nil)
    let wrong = try #require(server.refusal(plain, password: "hunter2"))
    #expect(wrong.kind == .unavailable && wrong.message.contains("Check user and password."))
    #expect(!wrong.message.contains("hunter2") && !wrong.message.contains("rd%"))
    let missing = try #require(server.refusal(plain + "&passfile=/nowhere", inURL: false))
    #expect(
      missing.message.contains("no password supplied")
        && missing.message.contains("Check user and password."))
  }

  @Test(
    "a pool in transaction mode is refused with what to do",
    .enabled(
      if: access("/usr/sbin/pgbouncer", X_OK) == 0 || getenv("REDIAL_LEAVE_OUT_NOTHING") != nil,
      "pgbouncer is missing; Scripts/packages all-tests installs it"),
    arguments: ["", "ignore_startup_parameters = options"])
  func pool(setting: String) throws {
    let database = TestDatabase()
    let folder = database.cluster.folder + "/b\(UInt32.random(in: 0...UInt32.max))"
    Cluster.run("/bin/mkdir", ["-m", "755", folder])
    let configuration = """
      [databases]
      * = host=\(database.cluster.folder)
      [pgbouncer]
      \(setting)
      pool_mode = transaction
      listen_addr =
      unix_socket_dir = \(folder)
      auth_type = trust
      auth_file = \(folder)/users
      pidfile = \(folder)/pid
      logfile = \(folder)/log
      """
    try configuration.write(toFile: folder + "/ini", atomically: false, encoding: .utf8)
    try "\"postgres\" \"\"\n".write(toFile: folder + "/users", atomically: false, encoding: .utf8)
    Cluster.run("/usr/sbin/pgbouncer", ["-q", "-d", folder + "/ini"])
    defer {
      let pid = (try? String(contentsOfFile: folder + "/pid", encoding: .utf8)).flatMap {
        Int32($0.trimmingCharacters(in: .whitespacesAndNewlines))
      }
      if let pid { kill(pid, SIGTERM) }
    }
    let location = database.settings.location.replacing(
      "host=\(database.cluster.folder)", with: "host=\(folder)")
    func refusal() -> StoreError? {
      #expect(throws: StoreError.self) { try PostgresStore(PostgresSettings(location + "&port=6432")) }
    }
    // It returns before it listens.
    var error: StoreError?
    poll(error?.message ?? "no error") {
      error = refusal()
      return !["No such file", "Connection refused"].contains { error?.message.contains($0) == true }
    }
    #expect(
      error?.kind == .unavailable
        && error?.message.contains("PgBouncer in transaction mode") == true)
    #expect(
      error?.message.contains("Name PostgreSQL's own address") == true, "\(error?.message ?? "")")
  }
}

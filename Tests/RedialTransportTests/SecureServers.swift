import Foundation
import Glibc
import Testing

/// An nginx with several TLS servers, with certificates made for the tests, each on a port of 127.0.0.1.
///
/// `@unchecked Sendable`: nothing changes after `init`.
final class SecureServers: @unchecked Sendable {
  /// The instance that all tests share.
  static let shared = Result { try SecureServers() }

  /// Whether nginx is there. Where nothing may be left out, the tests fail without it.
  static let canStart =
    getenv("REDIAL_LEAVE_OUT_NOTHING") != nil
    || "\(ProcessInfo.processInfo.environment["PATH"] ?? ""):/usr/sbin".split(separator: ":")
      .contains { access("\($0)/nginx", X_OK) == 0 }

  let folder: URL
  private let nginx = Process()
  private var ports: [String: Int] = [:]

  /// The maximum lifetime of nginx, in seconds.
  private static let longestLife = 900

  struct Failure: Error {
    var message: String
  }

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("redial-tls-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try issuer("ca")
    try certificate("good", by: "ca", names: "DNS:localhost,IP:127.0.0.1", days: 2)
    try certificate("expired", by: "ca", names: "DNS:localhost,IP:127.0.0.1", days: -1)
    try certificate("other", by: "ca", names: "DNS:other.example", days: 2)
    try certificate("client", by: "ca", names: "DNS:client.example", days: 2)
    try issuer("self")
    try start()
  }

  /// The URL of a server: `good`, `expired`, `other`, `self`, `client`, `old`.
  func url(_ name: String) -> String { "https://127.0.0.1:\(ports[name] ?? 0)" }

  func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  /// The SHA-256 digest of a certificate's public key, in base 64.
  func pin(_ name: String) throws -> String {
    try run(
      "openssl x509 -in \(name).pem -noout -pubkey | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary"
        + " | openssl base64 -A")
  }

  private func issuer(_ name: String) throws {
    try run(
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout \(name).key -out \(name).pem"
        + " -subj '/CN=Test \(name)' -addext subjectAltName=IP:127.0.0.1 -days 2")
  }

  private func certificate(_ name: String, by issuer: String, names: String, days: Int) throws {
    try run(
      "openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout \(name).key -out \(name).csr"
        + " -subj '/CN=Test \(name)' -addext subjectAltName=\(names)")
    try run(
      "openssl x509 -req -in \(name).csr -CA \(issuer).pem -CAkey \(issuer).key -CAcreateserial -days \(days)"
        + " -copy_extensions copy -out \(name).pem")
  }

  @discardableResult
  private func run(_ command: String) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", command]
    process.currentDirectoryURL = folder
    let (output, errors) = (Pipe(), Pipe())
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let complaint = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure(message: "\(command): \(complaint)") }
    return text
  }

  private func start() throws {
    var servers = ""
    for name in ["good", "expired", "other", "self", "client", "old"] {
      let port = ScriptedTarget.unusedPort()
      ports[name] = port
      let file = ["client", "old"].contains(name) ? "good" : name
      servers += """
        server {
          listen 127.0.0.1:\(port) ssl http2;
          ssl_certificate \(path("\(file).pem")); ssl_certificate_key \(path("\(file).key"));
          ssl_protocols \(name == "old" ? "TLSv1.2" : "TLSv1.2 TLSv1.3");
          \(name == "client" ? "ssl_verify_client on; ssl_client_certificate \(path("ca.pem"));" : "")
          location / { return 200 "$server_protocol $ssl_client_s_dn"; }
          location ~ ^/to/(.*)$ { return 302 https://$1/; }
          location ~ ^/through/([0-9]+)$ { client_max_body_size 64m; proxy_pass http://127.0.0.1:$1/; }
          location /echo { client_body_buffer_size 4m; client_max_body_size 4m; return 200 "$request_method"; }
        }

        """
    }
    let configuration = """
      daemon off; master_process off; worker_processes 1; pid \(path("nginx.pid")); error_log \(path("error.log"));
      events { worker_connections 256; }
      http {
        access_log off; client_body_temp_path \(path("body")); proxy_temp_path \(path("proxy"));
        fastcgi_temp_path \(path("fastcgi")); uwsgi_temp_path \(path("uwsgi")); scgi_temp_path \(path("scgi"));
        \(servers)
      }
      """
    try configuration.write(to: folder.appendingPathComponent("nginx.conf"), atomically: true, encoding: .utf8)
    nginx.executableURL = URL(fileURLWithPath: "/bin/sh")
    nginx.arguments = [
      "-c",
      "PATH=$PATH:/usr/sbin; nginx -p \(folder.path) -c \(path("nginx.conf")) -e \(path("error.log")) </dev/null & "
        // Others could hold a pipe open. The process that starts the tests may die without stopping it, so that its
        // lifetime is limited, too.
        + "turns=0; while kill -0 \(getpid()) && [ $turns -lt \(Self.longestLife) ]; do sleep 1; turns=$((turns+1)); done; "
        // Killed, because it inherits the signals that this process blocks.
        + "kill -9 $!; wait $!; rm -rf \(folder.path)",
    ]
    nginx.standardInput = FileHandle.nullDevice
    nginx.standardOutput = FileHandle.nullDevice
    nginx.standardError = FileHandle.nullDevice
    try nginx.run()
    let deadline = ContinuousClock.now + .seconds(60)
    while !ports.values.allSatisfy(Self.accepts) {
      guard ContinuousClock.now < deadline, nginx.isRunning else {
        throw Failure(message: (try? String(contentsOfFile: path("error.log"), encoding: .utf8)) ?? "no nginx")
      }
      usleep(10_000)
    }
  }

  private static func accepts(_ port: Int) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }
}

extension Trait where Self == ConditionTrait {
  /// Leaves a test out if nginx is missing.
  static var withNginx: ConditionTrait {
    .enabled(if: SecureServers.canStart, "nginx is missing; Scripts/packages all-tests installs it")
  }
}

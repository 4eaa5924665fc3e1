import Dispatch
import Foundation
import Glibc
import Synchronization

@testable import RedialPostgres

/// A PostgreSQL cluster of the tests' own, on a Unix socket in a temporary folder. One is started for each test process,
/// and stopped when the process ends; each test makes a database in it.
final class Cluster: Sendable {
  /// The cluster that tests share which do not stop it.
  static let shared: Cluster = {
    let cluster = Cluster()
    atexit { Cluster.shared.remove() }
    return cluster
  }()

  /// Its folder; the socket is in it.
  let folder: String
  private let postmaster = Mutex<Int32?>(nil)
  private let databases = Mutex(0)

  /// Makes and starts a cluster.
  ///
  /// - Parameter settings: Lines for its configuration.
  init(_ settings: [String] = []) {
    folder = Self.template.deletingLastPathComponent().path + "/redial-pg-\(UUID().uuidString.prefix(8))"
    guard mkdir(folder, 0o700) == 0 else { fatalError("could not make \(folder)") }
    if getuid() == 0 { Self.run("/bin/chown", ["postgres", folder], asServer: false) }
    Self.run("/bin/sh", ["-c", "cp -a --reflink=auto '\(Self.template.path)' '\(data)'"], asServer: false)
    let lines = [
      "listen_addresses = ''", "unix_socket_directories = '\(folder)'", "max_connections = 200",
      "shared_buffers = 64MB",
      "log_min_messages = warning", "autovacuum_naptime = 1s", "recovery_init_sync_method = syncfs",
    ]
    let file = "\(data)/postgresql.conf"
    let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
    try? (text + "\n" + (lines + settings).joined(separator: "\n") + "\n").write(
      toFile: file, atomically: false, encoding: .utf8)
    start()
  }

  /// The folder with the server's files.
  var data: String { folder + "/data" }

  /// The process id of the server; nil while it is stopped.
  var pid: Int32? { postmaster.withLock { $0 } }

  /// Starts the server, and waits until it accepts connections.
  func start() {
    Self.run(
      Self.program("pg_ctl"), ["-D", data, "-l", folder + "/log", "-w", "-t", "60", "start"])
    let first = (try? String(contentsOfFile: data + "/postmaster.pid", encoding: .utf8))?.split(
      separator: "\n"
    ).first
    postmaster.withLock { $0 = first.flatMap { Int32($0) } }
  }

  /// Has the server read its configuration again, after changes of it or of who may connect.
  func reload(_ lines: [String] = [], access: [String]? = nil) {
    let file = "\(data)/postgresql.conf"
    let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
    try? (text + lines.joined(separator: "\n") + "\n").write(
      toFile: file, atomically: false, encoding: .utf8)
    if let access {
      try? (access.joined(separator: "\n") + "\n").write(
        toFile: "\(data)/pg_hba.conf", atomically: false, encoding: .utf8)
    }
    Self.run(Self.program("pg_ctl"), ["-D", data, "reload"])
  }

  /// Stops the server as a crash does: without a checkpoint, in the middle of whatever it does.
  func crash() {
    Self.run(Self.program("pg_ctl"), ["-D", data, "-m", "immediate", "-w", "stop"])
    postmaster.withLock { $0 = nil }
  }

  /// Stops the server and removes the folder.
  func remove() {
    if let pid = postmaster.withLock({ $0 }) {
      kill(pid, SIGQUIT)
      for _ in 0..<500 where kill(pid, 0) == 0 { usleep(10_000) }
    }
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// The settings for a new database.
  func newDatabase() -> PostgresSettings {
    let number = databases.withLock { number in
      number += 1
      return number
    }
    let name = "test\(number)"
    do throws(PostgresFailure) {
      let connection = try PostgresConnection(settings(for: "postgres"))
      try connection.execute(
        ["CREATE DATABASE \(name) TEMPLATE template0 LOCALE 'C'"], purpose: "make a database", within: .seconds(60))
    } catch {
      fatalError("\(error)")
    }
    return settings(for: name)
  }

  /// The settings for a database.
  func settings(for database: String) -> PostgresSettings {
    PostgresSettings("postgresql://postgres@/\(database)?host=\(folder)")
  }

  // MARK: Programs

  /// The folder of the empty cluster that is copied; the copies are made beside it.
  private static let template: URL = {
    let script = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Scripts/database-template")
    let output = Pipe()
    let process = Process()
    process.executableURL = script
    process.standardOutput = output
    do { try process.run() } catch { fatalError("\(script.path): \(error)") }
    let path = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { fatalError("\(script.path) failed") }
    return URL(fileURLWithPath: path.trimmingCharacters(in: .whitespacesAndNewlines))
  }()

  private static func program(_ name: String) -> String {
    let versions =
      (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
    guard let version = versions.compactMap({ Int($0) }).max() else {
      fatalError("PostgreSQL is not installed. Scripts/packages all-tests installs it.")
    }
    return "/usr/lib/postgresql/\(version)/bin/\(name)"
  }

  /// Runs a program, as the user `postgres` if this process is root's: the server refuses to be root's.
  ///
  /// The program gets no descriptor of this process. The server that `pg_ctl` starts would keep them.
  static func run(_ program: String, _ arguments: [String], asServer: Bool = true) {
    let asPostgres = asServer && getuid() == 0
    let words =
      (asPostgres ? ["/usr/sbin/runuser", "-u", "postgres", "--"] : []) + [program] + arguments
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? [] {
      if let descriptor = Int32(name), descriptor > 2 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    }
    var copies: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for copy in copies { free(copy) } }
    var pid: pid_t = 0
    var status: Int32 = -1
    guard posix_spawn(&pid, words[0], &actions, nil, &copies, environ) == 0,
      waitpid(pid, &status, 0) == pid,
      status == 0
    else { fatalError("\(words.joined(separator: " ")) failed with status \(status)") }
  }
}

/// A database for one test, and a connection that looks into its tables.
final class TestDatabase {
  let cluster: Cluster
  let settings: PostgresSettings
  private var connection: PostgresConnection?

  init(_ cluster: Cluster = .shared) {
    self.cluster = cluster
    settings = cluster.newDatabase()
  }

  /// Another connection to a database, for another thread.
  init(_ settings: PostgresSettings, in cluster: Cluster) {
    self.cluster = cluster
    self.settings = settings
  }

  /// The rows of a query.
  func rows(_ sql: String) throws -> PostgresRows {
    let statement = PostgresStatement(PostgresQuery("q\(sql.hashValue)", "look", sql))
    if let connection, connection.isGood,
      let rows = try? connection.run([statement], within: .seconds(60))
    {
      return rows[0]
    }
    let new = try PostgresConnection(settings)
    connection = new
    return try new.run([statement], within: .seconds(60))[0]
  }

  /// Waits until a statement in this database waits for a lock.
  func awaitBlockedStatement() throws {
    let blocked = """
      SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
      """
    while try number(blocked) == 0 {}
  }

  /// The number in the first row of a query.
  func number(_ sql: String) throws -> Int64 {
    let rows = try rows(sql)
    return rows.count == 0 ? 0 : rows.integer(0, 0)
  }
}

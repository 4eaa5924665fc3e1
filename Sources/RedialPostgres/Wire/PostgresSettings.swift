internal import Glibc
package import RedialStore
package import RedialModel

/// How to reach a database, and how long to wait for it.
package struct PostgresSettings: Sendable {
  /// The database, as libpq takes it: `postgresql://user@host/database?sslmode=verify-full`, or `host=… dbname=…`.
  package var location: String
  /// The password, in place of one in ``location``; nil for that one, or for what libpq finds by itself: `PGPASSWORD`, or
  /// the file `~/.pgpass` or another one that `passfile` names.
  package var password: String?
  /// How long a connection may take to be made.
  package var connectTimeout = Duration.seconds(5)
  /// How long an answer may take before the connection is taken for lost. A commit is never cancelled: on the
  /// next connection the store asks the database whether it was made.
  package var answerTimeout = Duration.seconds(30)
  /// How long work waits for the database to be reached before it is refused.
  package var patience = Duration.seconds(1)
  /// What seals and opens the values.
  package var vault = Vault.none
  /// How documents are read, before older tables are upgraded.
  package var forms = DocumentForms.ofStores
  /// The schema with the tables.
  package var schema = "redial"

  /// Creates settings with the default bounds. Nothing is checked yet, see ``check()``.
  package init(_ location: String, password: String? = nil) {
    self.location = location
    self.password = password
  }

  /// The same without a vault: a vault that reads its keys by a connection is not part of that.
  func without() -> PostgresSettings {
    var plain = self
    plain.vault = .none
    return plain
  }

  /// Throws if the location cannot be read. The message contains nothing of it, because it may contain a password.
  package func check() throws(StoreError) {
    _ = try parsed()
  }

  /// The database without user and password, for messages: `PostgreSQL database redial on db.example.com`.
  package var place: String {
    guard let parsed = try? parsed() else { return "PostgreSQL" }
    let database = parsed["dbname"] ?? parsed["user"]
    let name = database.map { "PostgreSQL database \($0)" } ?? "PostgreSQL"
    guard let host = parsed["hostaddr"] ?? parsed["host"] else { return name }
    // Of a list of hosts without ports libpq makes a list of empty ports.
    let port = parsed["port"].flatMap { $0.contains { $0.isNumber } ? ", port \($0)" : nil }
    return "\(name) on \(host)\(port ?? "")"
  }

  /// The certificates of the usual authorities, as Debian and its kin, and Red Hat's have them.
  private static let authorities = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"]

  /// The parameters of a connection, by name.
  ///
  /// A server that is not on this machine must show a certificate for its name, unless the location says otherwise by
  /// `sslmode`. libpq's own default would encrypt if the server likes to, and would believe any server.
  func parameters() throws(StoreError) -> [String: String] {
    var all = try parsed()
    if let password { all["password"] = password }
    let isLocal = PostgresHost.areLocal(host: all["host"] ?? Self.environment("PGHOST"), address: all["hostaddr"])
    if !isLocal {
      if all["sslmode"] == nil {
        all["sslmode"] = "verify-full"
        if all["sslrootcert"] == nil, Self.environment("PGSSLROOTCERT") == nil,
          !Self.exists(home: ".postgresql/root.crt")
        {
          all["sslrootcert"] = Self.authorities.first { access($0, R_OK) == 0 }
        }
      }
      // A network that loses all packets must not stop the lane without an end. In seconds, and in milliseconds.
      for (name, value) in [
        ("keepalives_idle", "10"), ("keepalives_interval", "3"), ("keepalives_count", "3"),
        ("tcp_user_timeout", "15000"),
      ] where all[name] == nil { all[name] = value }
    }
    if all["application_name"] == nil { all["application_name"] = "redial" }
    all["target_session_attrs"] = "read-write"
    all["client_encoding"] = "UTF8"
    all["options"] = (all["options"].map { $0 + " " } ?? "") + options
    return all
  }

  /// What a session has. The plans of the store's few statements are made once for each connection, and they find rows by
  /// an index however small a table was then.
  private var options: String {
    "-c search_path=\(schema) -c default_transaction_isolation=read\\ committed -c plan_cache_mode=force_generic_plan"
      + " -c enable_seqscan=off -c enable_mergejoin=off -c jit=off"
  }

  private static func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
  }

  private static func exists(home file: String) -> Bool {
    environment("HOME").map { access("\($0)/\(file)", R_OK) == 0 } ?? false
  }

  /// The location in its parts.
  ///
  /// A password with a slash that is not percent-encoded would end in the name of the database, and be shown.
  private func parsed() throws(StoreError) -> [String: String] {
    guard let parsed = PostgresConnection.parse(location), parsed["dbname"]?.contains("@") != true,
      parsed["host"]?.contains("@") != true || parsed["host"]?.hasPrefix("@") == true,
      parsed["port"]?.allSatisfy({ $0.isNumber || $0 == "," }) != false
    else {
      throw StoreError(
        kind: .corrupt,
        message:
          "The location of the store is not a PostgreSQL URL that can be read; it is not shown, because it may contain "
          + "a password. Write postgresql://user@host:5432/database, and characters other than letters and digits in a "
          + "password as %XX.")
    }
    return parsed
  }
}

/// Which servers are on this machine.
enum PostgresHost {
  /// Whether all servers that libpq may connect to are on this machine: a path or an abstract name is a Unix socket, and no
  /// host at all is one, too. Lists are separated by commas.
  static func areLocal(host: String?, address: String?) -> Bool {
    let names = (address ?? host ?? "").split(separator: ",", omittingEmptySubsequences: false)
    return names.allSatisfy { name in
      name.isEmpty || name.hasPrefix("/") || name.hasPrefix("@") || name == "localhost" || name == "::1"
        || isLoopback(name)
    }
  }

  /// 127.0.0.0/8, written as four numbers; a name such as 127.example.com is none.
  private static func isLoopback(_ name: Substring) -> Bool {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }
}

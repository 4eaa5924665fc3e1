import RedialModel
import RedialStore
import Testing

@testable import RedialPostgres

@Suite("The location of a database")
struct PostgresSettingsTests {
  @Test(
    "is shown without user, password and parameters",
    arguments: [
      (
        "postgresql://me:secret@db.example.com:5433/calls?sslmode=disable",
        "PostgreSQL database calls on db.example.com, port 5433"
      ),
      ("postgres://me:secret@db.example.com/calls", "PostgreSQL database calls on db.example.com"),
      (
        "postgresql://me@/calls?host=/run/postgresql&password=secret",
        "PostgreSQL database calls on /run/postgresql"
      ),
      ("postgresql://a,b/calls?password=secret", "PostgreSQL database calls on a,b"),
      ("host=db dbname=calls user=me password='secret host=x'", "PostgreSQL database calls on db"),
      ("postgresql:///calls", "PostgreSQL database calls"),
    ])
  func place(location: String, shown: String) throws {
    let settings = PostgresSettings(location)
    try settings.check()
    #expect(settings.place == shown)
  }

  @Test(
    "shows nothing of a password when it cannot be read",
    arguments: [
      "postgresql://me:sec/ret@db.example.com/calls", "postgresql://me:sec%zzret@db/calls",
      "postgresql://me:secret@[db/calls",
      "host=db password=sec ret", "postgresql://db/calls?secret=1", "secret",
      "postgresql://me:sec/x/ret@db",
      "postgresql://db:secret/calls",
    ])
  func unreadable(location: String) {
    let settings = PostgresSettings(location)
    #expect(settings.place == "PostgreSQL")
    let error = #expect(throws: StoreError.self) { try settings.check() }
    #expect(error?.kind == .corrupt && error?.message.contains("%XX") == true)
    #expect(throws: PostgresFailure.self) { try PostgresConnection(settings) }
    for text in [error?.message, describe { _ = try PostgresConnection(settings) }] {
      #expect(text?.contains("sec") == false && text?.contains("ret@") == false)
    }
  }

  private func describe(_ body: () throws -> Void) -> String {
    do { try body() } catch {
      return "\(error) \((error as? PostgresFailure)?.error(at: "PostgreSQL").message ?? "")"
    }
    return ""
  }

  @Test("a server elsewhere must prove who it is, unless the location says otherwise")
  func verification() throws {
    func mode(_ location: String) throws -> String? {
      try PostgresSettings(location).parameters()["sslmode"]
    }
    #expect(try mode("postgresql://me@db.example.com/calls") == "verify-full")
    #expect(try mode("postgresql://me@localhost,db.example.com/calls") == "verify-full")
    #expect(try mode("postgresql://me@127.example.com/calls") == "verify-full")
    #expect(try mode("postgresql://me@db.example.com/calls?sslmode=require") == "require")
    for local in [
      "localhost", "127.0.0.1", "127.1.2.3", "[::1]", "%2Frun%2Fpostgresql", "localhost,127.0.0.1",
    ] {
      #expect(try mode("postgresql://me@\(local)/calls") == nil, "\(local)")
    }
    // The address is what counts, whatever the name.
    #expect(try mode("host=localhost hostaddr=10.0.0.1 dbname=calls") == "verify-full")
    #expect(
      try PostgresSettings("postgresql://db/calls?sslrootcert=/ca.pem").parameters()["sslrootcert"]
        == "/ca.pem")
  }

  @Test(
    "a password beside the location takes the place of the one in it, and other parameters stay")
  func password() throws {
    let settings = PostgresSettings(
      "postgresql://me:old@db/calls?channel_binding=require&application_name=mine&options=-c%20work_mem%3D8MB",
      password: "new@/#")
    let parameters = try settings.parameters()
    #expect(parameters["password"] == "new@/#" && parameters["channel_binding"] == "require")
    #expect(
      parameters["application_name"] == "mine" && parameters["target_session_attrs"] == "read-write"
    )
    #expect(parameters["options"]?.hasPrefix("-c work_mem=8MB -c search_path=redial") == true)
    #expect(!settings.place.contains("new"))
  }

  @Test("a server that would lose calls, or that a pool hides, is refused with what to do")
  func greeting() {
    let good = Greeting(
      process: 7, version: 150_004, encoding: "UTF8", searchPath: "redial", off: "")
    #expect(good.objection(process: 7, schema: "redial") == nil)
    func objection(_ change: (inout Greeting) -> Void) -> String {
      var greeting = good
      change(&greeting)
      return greeting.objection(process: 7, schema: "redial") ?? ""
    }
    #expect(
      objection { $0.version = 120_022 } == "it is PostgreSQL 12, and Redial needs 13 or newer.")
    #expect(objection { $0.encoding = "SQL_ASCII" }.contains("ENCODING 'UTF8'"))
    #expect(
      objection { $0.off = "fsync, synchronous_commit" }.hasPrefix(
        "fsync, synchronous_commit is off"))
    #expect(objection { $0.process = 8 }.contains("PgBouncer"))
    #expect(objection { $0.searchPath = "\"$user\", public" }.contains("PgBouncer"))
  }
}

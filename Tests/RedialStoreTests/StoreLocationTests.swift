import RedialStore
import Testing

@Suite("Store locations")
struct StoreLocationTests {
  @Test(
    "name a file by its path",
    arguments: [
      ("sqlite:///var/lib/redial/redial.db", "/var/lib/redial/redial.db"), ("sqlite:/tmp/a.db", "/tmp/a.db"),
      ("sqlite:redial.db", "redial.db"), ("sqlite:data/my calls.db", "data/my calls.db"),
    ])
  func path(text: String, path: String) throws {
    #expect(try StoreLocation(text) == .sqlite(path: path))
  }

  @Test(
    "name a database by its URL", arguments: ["postgres://db/redial", "postgresql://ada@[::1]:5433/r?sslmode=require"])
  func database(text: String) throws {
    let location = try StoreLocation(text)
    #expect(location == .postgres(url: text))
    #expect(location.sharing == .shared)
  }

  @Test(
    "that are invalid say what is wrong and what to write",
    arguments: [
      ("postgresql:db", "does not name a store"), ("postgresql://db/a\0b", "zero byte"),
      ("sqlite://host/redial.db", "host"), ("sqlite:", "does not name a file"),
      ("sqlite:///var/lib/", "does not name a file"), ("/var/lib/redial.db", "does not name a store"),
      ("", "does not name a store"), ("sqlite::memory:", "memory"),
    ])
  func invalid(text: String, reason: String) {
    let error = #expect(throws: StoreLocation.Invalid.self) { try StoreLocation(text) }
    #expect(error?.message.contains(reason) == true)
    #expect(error?.message.contains("sqlite:///var/lib/redial/redial.db") == true)
  }

  @Test("are refused without the credentials in them", arguments: ["mysql://ada:s3cret@db/x", "ada:s3cret@db/x"])
  func credentials(text: String) {
    let error = #expect(throws: StoreLocation.Invalid.self) { try StoreLocation(text) }
    #expect(error?.message.contains("REDACTED@db/x") == true && error?.message.contains("s3cret") == false)
  }
}

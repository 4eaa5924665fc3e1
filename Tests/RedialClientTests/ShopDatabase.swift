import CSQLite
import Foundation
import RedialClient
import RedialTestSupport
import Testing

/// A connection to an SQLite file, as a program would have one.
actor ShopDatabase: OutboxDatabase {
  private nonisolated(unsafe) let handle: OpaquePointer

  struct Failed: Error { var message: String }

  init(_ path: String) throws {
    var handle: OpaquePointer?
    guard sqlite3_open(path, &handle) == SQLITE_OK, let handle else { throw Failed(message: "cannot open \(path)") }
    sqlite3_busy_timeout(handle, 60_000)
    self.handle = handle
  }

  deinit { sqlite3_close_v2(handle) }

  /// Runs `body` with two connections to a new file that has an outbox: that of the program and that of the relay.
  static func run(_ body: (_ shop: ShopDatabase, _ other: ShopDatabase) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("outbox-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("shop.sqlite3").path
    let shop = try ShopDatabase(path)
    for statement in OutboxDialect.sqlite.tables { try await shop.query(statement) }
    try await body(shop, try ShopDatabase(path))
  }

  @discardableResult
  func query(_ statement: String, _ values: [OutboxValue] = []) throws -> [[OutboxValue]] {
    var prepared: OpaquePointer?
    guard sqlite3_prepare_v2(handle, statement, -1, &prepared, nil) == SQLITE_OK else { throw failure() }
    defer { sqlite3_finalize(prepared) }
    for (index, value) in values.enumerated() {
      switch value {
      case .integer(let number): sqlite3_bind_int64(prepared, Int32(index + 1), number)
      case .text(let text):
        _ = text.withCString { redial_bind_text_copy(prepared, Int32(index + 1), $0, UInt64(text.utf8.count)) }
      }
    }
    var rows: [[OutboxValue]] = []
    while true {
      switch sqlite3_step(prepared) {
      case SQLITE_ROW:
        rows.append(
          (0..<sqlite3_column_count(prepared)).map { column in
            sqlite3_column_type(prepared, column) == SQLITE_INTEGER
              ? .integer(sqlite3_column_int64(prepared, column))
              : .text(sqlite3_column_text(prepared, column).map { String(cString: $0) } ?? "")
          })
      case SQLITE_DONE: return rows
      default: throw failure()
      }
    }
  }

  private func failure() -> Failed { Failed(message: String(cString: sqlite3_errmsg(handle))) }

  /// The texts of the first column.
  func texts(_ statement: String) throws -> [String] {
    try query(statement).map { row in
      if case .text(let text) = row[0] { text } else { "" }
    }
  }

  /// Returns when all rows are relayed.
  func waitUntilEmpty() async throws {
    let rows = "SELECT id FROM redial_outbox"
    // An error ends the wait, and is thrown by the look after it.
    _ = await eventually { (try? await self.query(rows))?.isEmpty ?? true }
    #expect(try query(rows).isEmpty, "rows are not relayed")
  }
}

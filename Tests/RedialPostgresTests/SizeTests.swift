import RedialCore
import RedialModel
import RedialStore
import StoreConformance
import Testing

@testable import RedialPostgres

@Suite("The size of a database")
struct SizeTests {
  let database = TestDatabase()
  private static let count = 3000

  /// A store with ended calls, which are about 2 kB each.
  private func filled() throws -> AwaitedStore {
    let store = AwaitedStore(try PostgresStore(database.settings, sharing: .alone))
    var random = RandomSource(seed: 1)
    for start in stride(from: 0, to: Self.count, by: 500) {
      try store.commit(
        (start..<(start + 500)).flatMap { number in
          var call = Sample.call(
            number, .held, body: (0..<1500).map { _ in UInt8.random(in: .min ... .max, using: &random) })
          let insert = StoreWrite.insert(call)
          (call.progress.state, call.progress.attempts) = (.succeeded, 1)
          call.progress.finishedAt = Sample.time(number)
          return [insert, .update(call.id, call.progress, Sample.attempt(1))]
        })
    }
    return store
  }

  private func tidyAll(_ store: AwaitedStore, bytes: Int, at seconds: Int = 10_000) throws -> Int {
    var removed = 0
    while true {
      let step = try store.tidy(Retention(bytes: bytes), at: Sample.time(seconds), within: .seconds(1))
      removed += step.removed
      if step.isDone { return removed }
    }
  }

  private func left() throws -> Int { Int(try database.number("SELECT count(*) FROM redial.done")) }

  @Test("is kept by the calls that ended first, as many as need be")
  func bound() throws {
    let store = try filled()
    defer { store.close() }
    let rows = try database.rows(
      "SELECT sum(pg_total_relation_size(('redial.' || n)::regclass))::int8 FROM unnest(ARRAY['live', 'done', 'requests', 'attempts', 'labels', 'keys']) n"
    )
    let files = Int(rows.integer(0, 0))
    #expect(files > 5_000_000)
    // Nothing goes while the files are within the limit.
    #expect(try tidyAll(store, bytes: files * 2) == 0)
    let again = AwaitedStore(try PostgresStore(database.settings, sharing: .alone))
    defer { again.close() }
    let removed = try tidyAll(again, bytes: files / 2)
    let kept = try left()
    #expect(removed == Self.count - kept)
    // Half of the room is for about half of the calls.
    #expect((Self.count * 40 / 100...Self.count * 65 / 100).contains(kept), "\(kept) of \(Self.count)")
    // The first ended are gone, and no others.
    #expect(try database.number("SELECT min(finished_at) FROM redial.done") == Sample.time(removed).microseconds)
    // The files are not smaller, and nothing more goes because of that.
    let third = AwaitedStore(try PostgresStore(database.settings, sharing: .alone))
    defer { third.close() }
    #expect(try tidyAll(third, bytes: files / 2) < Self.count / 20)
  }

  @Test("removes no call within a minute of its end, and none that has not ended")
  func young() throws {
    let store = try filled()
    defer { store.close() }
    try store.commit([.insert(Sample.call(9000))])
    let now = 1000
    _ = try tidyAll(store, bytes: 1, at: now)
    #expect(try left() == Self.count - (now - 60) - 1)
    #expect(try database.number("SELECT count(*) FROM redial.live") == 1)
  }
}

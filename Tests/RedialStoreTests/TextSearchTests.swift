import Glibc
import RedialCore
import RedialModel
import StoreConformance
import Testing

@testable import RedialSQLite
@testable import RedialStore

@Suite("The search for a part of the URL")
struct TextSearchTests {
  @Test("finds what a naive search finds")
  func agrees() {
    var random = RandomSource(seed: 7)
    func text(_ length: Int) -> String {
      String((0..<length).map { _ in ["a", "A", "b", "é"].randomElement(using: &random) ?? "a" })
    }
    for _ in 0..<20_000 {
      let (text, part) = (
        text(Int.random(in: 0...20, using: &random)), text(Int.random(in: 0...6, using: &random))
      )
      let (bytes, wanted) = (Array(text.lowercased().utf8), Array(part.lowercased().utf8))
      let expected = (0...max(0, bytes.count - wanted.count)).contains { bytes[$0...].starts(with: wanted) }
      #expect(TextSearch(part).occurs(in: text) == expected, "\(part) in \(text)")
    }
    #expect(TextSearch("[`").occurs(in: "x[`") && !TextSearch("[").occurs(in: "{") && !TextSearch("@").occurs(in: "`"))
  }

  @Test("takes time in proportion to the text, whatever the search is")
  func isLinear() {
    let text = "http://h/" + String(repeating: "a", count: 8100)
    func seconds(_ part: String) -> Double {
      let search = TextSearch(part)
      var (from, to) = (timespec(), timespec())
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from)
      for _ in 0..<100 { #expect(!search.occurs(in: text)) }
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to)
      return Double(to.tv_sec - from.tv_sec) + Double(to.tv_nsec - from.tv_nsec) / 1e9
    }
    // The naive search compares 2,000 times as much for the last of these as for the first.
    let harmless = seconds("zzz")
    for part in [String(repeating: "a", count: 2000) + "b", "b" + String(repeating: "a", count: 2000)] {
      #expect(seconds(part) < 20 * harmless + 0.1)
    }
  }

  @Test("a page examines fewer calls if their URLs are long, and the next continues there")
  func budget() throws {
    let folder = TemporaryFolder()
    let store = try SQLiteStore(path: folder.file("calls.db"))
    defer { store.close() }
    let calls = (1...40).map { number in
      var call = Sample.call(number)
      let path = String(repeating: "a", count: number == 3 ? 2560 : number % 2 == 0 ? 2500 : 10)
      call = CallRecord(
        id: call.id, kind: .call,
        spec: CallSpec(
          url: "https://example.com/\(path)\(number == 3 ? "wanted" : "")", method: "GET", headers: [], target: "t",
          policy: .service, captureLimit: 0),
        body: [], createdAt: call.createdAt, progress: call.progress)
      return call
    }
    try store.commit(calls.map { .insert($0) })
    let reader = try SQLiteReader(path: folder.file("calls.db"), connections: 1, beside: store)
    var filter = CallFilter()
    #expect(filter.set("url", to: "WANTED", at: Sample.start) == nil)
    var query = CallQuery(filter, scanLimit: 50)
    var (found, pages): ([CallID], Int) = ([], 0)
    while true {
      let page = try reader.ids(query)
      found += page.calls
      pages += 1
      guard let next = page.next else { break }
      query.before = next
    }
    #expect(found == [calls[2].id])
    // About 20 calls of 10 and 20 of 1, 50 at a time; without the lengths it would be one page.
    #expect((4...6).contains(pages))
  }
}

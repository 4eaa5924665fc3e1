import Testing

@testable import RedialService

@Suite("Returning memory")
struct HeapTrimmingTests {
  @Test("the heap is trimmed when enough is free, and again only when as much has become resident since")
  func rule() {
    var rule = HeapTrimming.Rule(keptBytes: 10)
    func trims(free: Int, resident: Int) -> Bool { rule.shouldTrim(free: free, resident: resident) }
    #expect(!trims(free: 10, resident: 100))
    #expect(trims(free: 11, resident: 100))
    rule.trimmed(resident: 40)
    // The allocator counts pages as free that it has returned.
    #expect(!trims(free: 60, resident: 50))
    #expect(trims(free: 60, resident: 51))
    rule.trimmed(resident: 51)
    // Resident memory may also shrink by itself.
    #expect(!trims(free: 60, resident: 20))
    #expect(trims(free: 60, resident: 31))
  }
}

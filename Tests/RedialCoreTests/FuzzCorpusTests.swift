import FuzzCorpus
import Testing

@Suite("The fuzzer's dates")
struct DateFuzzCorpusTests {
  @Test("what the fuzzer has kept, and changes of it, is no negative wait")
  func corpus() throws {
    for input in try FuzzCorpus.inputs("dates", changes: 300) {
      let fault = FuzzedDates.fault(input.bytes)
      #expect(fault == nil, "\(input.name): \(String(decoding: input.bytes, as: UTF8.self))")
    }
  }
}

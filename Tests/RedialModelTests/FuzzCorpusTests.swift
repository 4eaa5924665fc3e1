import FuzzCorpus
import Testing

@Suite("The fuzzer's descriptors")
struct DescriptorFuzzCorpusTests {
  @Test("what the fuzzer has kept, and changes of it, is refused or stays the same when it is stored")
  func corpus() throws {
    for input in try FuzzCorpus.inputs("descriptor", changes: 300) {
      let fault = FuzzedDescriptors.fault(input.bytes)
      #expect(fault == nil, "\(input.name): \(String(decoding: input.bytes, as: UTF8.self))")
    }
  }
}

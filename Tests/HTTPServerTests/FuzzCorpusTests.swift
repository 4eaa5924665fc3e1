import FuzzCorpus
import Testing

@Suite("The fuzzers' inputs")
struct HTTPFuzzCorpusTests {
  @Test(
    "what the fuzzers of the parsers have kept, and changes of it, breaks no parser",
    arguments: ["parser", "chunked", "gzip"])
  func corpus(_ name: String) throws {
    let check = ["parser": FuzzedParsers.requests, "chunked": FuzzedParsers.chunks, "gzip": FuzzedParsers.compressed][
      name]
    let inputs = try FuzzCorpus.inputs(name, changes: 100)
    #expect(inputs.count > 300)
    for input in inputs {
      let fault = check?(input.bytes)
      #expect(fault == nil, "\(input.name): \(input.bytes)")
    }
  }
}

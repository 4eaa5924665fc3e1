import Foundation
import RedialCore
import Testing

@testable import RedialModel

@Suite("Base 64 and ids as text")
struct TextTests {
  @Test("base 64 agrees with Foundation's, and is stricter than none")
  func base64() {
    var random = RandomSource(seed: 9)
    for length in 0..<200 {
      let bytes = (0..<length).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      let text = Base64.encode(bytes)
      #expect(text == Data(bytes).base64EncodedString())
      #expect(Base64.decode(text) == bytes)
    }
    for text in ["A", "AA", "AAA", "AAA=A", "A===", "AA=A", "====", "QUJD\n", "QQ-_", "QR==", "QUF=", "Q Q="] {
      #expect(Base64.decode(text) == nil, "\(text)")
    }
  }

  @Test("ids are read back from their text, in either case, and sort in their order")
  func ids() {
    var source = CallIDSource(instance: 3)
    let now = Timestamp(microseconds: 1_790_000_000_123_456)
    // More than a millisecond's sequence, and a clock that goes back.
    let ids = (0..<3000).map { number in
      source.next(at: number % 100 == 99 ? Timestamp(microseconds: now.microseconds - 50_000) : now)
    }
    #expect(Set(ids).count == 3000)
    #expect(ids == ids.sorted())
    #expect(ids.map(\.description) == ids.map(\.description).sorted())
    for id in ids {
      #expect(CallID(id.description) == id)
      #expect(CallID("call_" + id.characters.lowercased()) == id)
    }
    #expect(ids[0].createdAt == Timestamp(microseconds: 1_790_000_000_123_000))
    for text in [
      "", "call_", "1M7YBET2A0000", "call_1M7YBET2A000", "call_1M7YBET2A00000", "call_1M7YBET2A000U",
      "msg_1M7YBET2A0000",
      "call_ZZZZZZZZZZZZZ", "call_1M7YBET2A00é",
    ] { #expect(CallID(text) == nil, "\(text)") }
    #expect(CallID("call_7ZZZZZZZZZZZZ")?.rawValue == .max)
  }

  @Test("a source continues above the last id")
  func after() {
    let last = CallID(rawValue: 1_900_000_000_000 << 20)
    var source = CallIDSource(after: last)
    #expect(source.next(at: Timestamp(microseconds: 1_790_000_000_000_000)) > last)
  }
}

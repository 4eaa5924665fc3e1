import Testing

@testable import HTTPServer

@Suite("A byte buffer")
struct ByteBufferTests {
  @Test("behaves like an array that is appended at one end and cut at the other", arguments: 0..<20 as Range<UInt64>)
  func behavesLikeArray(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var buffer = ByteBuffer()
    var model: [UInt8] = []
    for _ in 0..<200 {
      switch Int.random(in: 0..<5, using: &random) {
      case 0, 1:
        let bytes = (0..<Int.random(in: 1...6000, using: &random)).map { UInt8(truncatingIfNeeded: $0) }
        buffer.append(bytes, bytes.count)
        model += bytes
      case 2:
        let count = Int.random(in: 0...model.count, using: &random)
        buffer.dropFirst(count)
        model.removeFirst(count)
      case 3:
        let lower = Int.random(in: 0...model.count, using: &random)
        let upper = Int.random(in: lower...model.count, using: &random)
        buffer.keep(lower..<upper)
        model = Array(model[lower..<upper])
      default:
        if Int.random(in: 0..<10, using: &random) == 0 {
          buffer.removeAll(keepingAtMost: 5000)
          model = []
        }
      }
      let isSame = model.elementsEqual(UnsafeBufferPointer(start: buffer.bytes, count: buffer.count))
      #expect(isSame && buffer.isEmpty == model.isEmpty, "seed \(seed)")
    }
  }

  @Test("gives large memory back, and keeps small memory")
  func givesBack() {
    var buffer = ByteBuffer()
    #expect(buffer.spareCapacity == 0)
    _ = buffer.reserve(100_000)
    buffer.removeAll(keepingAtMost: 200_000)
    #expect(buffer.spareCapacity >= 100_000)
    buffer.removeAll(keepingAtMost: 1000)
    #expect(buffer.spareCapacity == 0)
  }
}

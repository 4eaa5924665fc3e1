import Testing

@testable import RedialCore
@testable import RedialModel
@testable import RedialService

@Suite("What instances tell each other of the ends of calls")
struct EndCodingTests {
  private static func call(_ number: Int64) -> CallID { CallID(rawValue: number) }

  private let request = EndCoding.request([.watch(call(7)), .ended(call(8), for: 3), .watch(call(9))], from: 5)

  @Test("a request says who waits for which calls, and which have ended")
  func requests() throws {
    let read = try #require(request.withUnsafeBufferPointer { EndCoding.content($0, atMost: 3) })
    #expect(read.session == 5 && read.watched == [Self.call(7), Self.call(9)] && read.ended == [Self.call(8)])
    #expect(request.withUnsafeBufferPointer { EndCoding.content($0, atMost: 2) } == nil, "too many")
  }

  @Test("an answer says whether they are remembered, and which have ended already", arguments: [true, false])
  func answers(isWatching: Bool) throws {
    let read = try #require(EndCoding.answer(EndCoding.answer(isWatching: isWatching, ended: [Self.call(1 << 60)])))
    #expect(read.isWatching == isWatching && read.ended == [Self.call(1 << 60)])
  }

  @Test("what is cut off, longer or of another version is refused as a whole; whatever a byte is, reading ends")
  func damaged() {
    for count in request.indices where (count - 16) % 16 != 0 {
      #expect(request.prefix(count).withUnsafeBufferPointer { EndCoding.content($0, atMost: 9) } == nil)
    }
    var other = request
    other[0] = 9
    #expect(other.withUnsafeBufferPointer { EndCoding.content($0, atMost: 9) } == nil)
    #expect(EndCoding.answer([]) == nil && EndCoding.answer([1, 2, 3]) == nil)
    for place in request.indices {
      var other = request
      other[place] ^= 0x80
      _ = other.withUnsafeBufferPointer { EndCoding.content($0, atMost: 9) }
      _ = EndCoding.answer(other)
    }
  }
}

@Suite("The calls of this instance that others wait for")
struct WatchedEndsTests {
  private static let start = Timestamp(microseconds: 1_000_000_000)
  private static func calls(_ numbers: some Sequence<Int>) -> [CallID] { numbers.map { CallID(rawValue: Int64($0)) } }

  @Test("each instance that waits for a call gets its end once")
  func told() {
    var ends = WatchedEnds()
    let added = [([1, 2], 5), ([2], 6), ([2], 6)].map { ends.add(Self.calls($0.0), for: $0.1, at: Self.start) }
    #expect(added == [true, true, true])
    let (first, again) = (ends.ended(Self.calls([2, 3]), at: Self.start), ends.ended(Self.calls([2]), at: Self.start))
    #expect(first.map(\.session).sorted() == [5, 6] && again.isEmpty && ends.count == 1)
  }

  @Test("they are remembered for two minutes at least, and forgotten later")
  func memory() {
    var ends = WatchedEnds()
    _ = ends.add(Self.calls([1]), for: 5, at: Self.start)
    _ = ends.add(Self.calls([2]), for: 5, at: Self.start + WatchedEnds.memory)
    #expect(ends.count == 2)
    _ = ends.add(Self.calls([3]), for: 5, at: Self.start + WatchedEnds.memory * 2)
    let ended = ends.ended(Self.calls([1, 2, 3]), at: Self.start + WatchedEnds.memory * 2)
    #expect(ended.map(\.call) == Self.calls([2, 3]))
  }

  @Test("at the bound none is added, and those that are there stay")
  func bound() {
    var ends = WatchedEnds()
    var isAdded = ends.add(Self.calls(0..<WatchedEnds.most), for: 5, at: Self.start)
    #expect(isAdded)
    isAdded = ends.add(Self.calls([-1]), for: 5, at: Self.start)
    #expect(!isAdded)
    let ended = ends.ended(Self.calls([0]), at: Self.start)
    isAdded = ends.add(Self.calls([-1]), for: 5, at: Self.start)
    #expect(ended.count == 1 && isAdded)
  }
}

import Testing

@testable import HTTPServer

@Suite("The backlog of a stream")
struct StreamBacklogTests {
  @Test("loses no accepted byte, keeps its limit, and reports writability once", arguments: 0..<20 as Range<UInt64>)
  func behavesLikeQueue(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let limit = Int.random(in: 1...300, using: &random)
    let told = Inbox<HTTPStreamEvent>()
    let backlog = StreamBacklog(first: [], limit: limit) { told.put($0) }
    var (accepted, taken): ([UInt8], [UInt8]) = ([], [])
    var (inFlight, mustWait, isSignalled) = (0, false, false)
    for step in 0..<2000 {
      switch Int.random(in: 0..<3, using: &random) {
      case 0:
        let piece = (0..<Int.random(in: 0...100, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        let (room, mustSignal) = backlog.write(piece)
        #expect((room == .refused) == mustWait, "seed \(seed), step \(step)")
        guard room == .free || room == .full else { continue }
        accepted += piece
        #expect(mustSignal == (!isSignalled && !piece.isEmpty), "seed \(seed), step \(step)")
        isSignalled = isSignalled || mustSignal
        let waiting = accepted.count - taken.count + inFlight
        #expect(piece.isEmpty || (room == .full) == (waiting >= limit), "seed \(seed), step \(step)")
        #expect(waiting < limit + 100, "seed \(seed), step \(step)")
        mustWait = room == .full
      case 1:
        let batch = backlog.take()
        isSignalled = false
        taken += batch.bytes
        inFlight += batch.bytes.count
        #expect(taken == accepted && !batch.isEnded, "seed \(seed), step \(step)")
      default:
        inFlight = Int.random(in: 0...inFlight, using: &random)
        backlog.report(inFlight: inFlight)
        let isWritable = mustWait && accepted.count - taken.count + inFlight <= limit / 2
        #expect(told.count == (isWritable ? 1 : 0), "seed \(seed), step \(step)")
        if isWritable {
          #expect(try told.take() == .writable)
          mustWait = false
        }
      }
    }
  }

  @Test("accepts and reports nothing after its end, and reports its closing once")
  func ends() throws {
    let told = Inbox<HTTPStreamEvent>()
    let backlog = StreamBacklog(first: [1], limit: 10) { told.put($0) }
    #expect(backlog.write([2]) == (.free, true))
    #expect(!backlog.end())
    #expect(backlog.write([3]).0 == .closed)
    backlog.notify(.clientEnded)
    let batch = backlog.take()
    #expect(batch.bytes == [1, 2] && batch.isEnded)
    #expect(told.count == 0)
    backlog.close()
    backlog.close()
    #expect(try told.take() == .closed)
    #expect(told.count == 0 && backlog.write([4]).0 == .closed && !backlog.end())
  }
}

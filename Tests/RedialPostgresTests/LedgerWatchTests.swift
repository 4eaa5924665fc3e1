import RedialCore
import RedialStore
import Testing

@testable import RedialPostgres

@Suite("What an instance knows to be in the ledgers")
struct LedgerWatchTests {
  private let own: Int64 = 11
  private let other: Int64 = 22
  private let side: Int64 = 33

  /// One heartbeat, which finds these numbers.
  private func beat(
    _ watch: inout LedgerWatch, _ found: [Int64: Int64], sessions: Set<Int64>? = nil
  ) -> [Int64]? {
    watch.look(at: found, knowing: watch.known, sessions: sessions ?? Set(found.keys)).map { [$0.made, $0.found] }
  }

  private func reports(_ watch: inout LedgerWatch, _ loss: LostCommits?, at now: Timestamp) -> Bool {
    watch.mustReport(loss, at: now)
  }

  @Test("what grows, stands, or ends with its last number kept is no loss")
  func sound() {
    var watch = LedgerWatch()
    watch.made(5, in: own)
    #expect(beat(&watch, [own: 5, other: 70]) == nil)
    watch.made(6, in: own)
    #expect(beat(&watch, [own: 7, other: 90]) == nil, "the seventh is not reported yet")
    #expect(beat(&watch, [own: 7, other: 90], sessions: []) == nil)
    #expect(watch.known == [own: 6, other: 90])
  }

  @Test("what is made after a heartbeat was sent may be missing in what it finds")
  func race() {
    var watch = LedgerWatch()
    watch.made(5, in: own)
    let known = watch.known
    watch.made(6, in: own)
    #expect(watch.look(at: [own: 5], knowing: known, sessions: [own]) == nil)
  }

  @Test(
    "own commits, those of others, and changes of documents are missed, with or without a session, and reported once")
  func losses() {
    var watch = LedgerWatch()
    watch.made(100, in: own)
    watch.made(3, in: side)
    _ = beat(&watch, [own: 100, other: 40, side: 3])
    watch.made(103, in: own)
    _ = beat(&watch, [own: 103, other: 45, side: 3])
    var alone = watch
    #expect(beat(&watch, [own: 101, other: 41, side: 1], sessions: []) == [103 + 45 + 3, 101 + 41 + 1])
    #expect(beat(&watch, [own: 101, other: 41, side: 1], sessions: []) == nil)
    // Only the one that is gone has lost something.
    #expect(beat(&alone, [own: 103, other: 44, side: 3], sessions: [own]) == [45, 44])
  }

  @Test("of a session that the server does not know at all, no more is lost than was known")
  func unknownSession() {
    var watch = LedgerWatch()
    watch.made(5000, in: own)
    watch.made(5001, in: own)
    _ = beat(&watch, [own: 5001, other: 70])
    #expect(beat(&watch, [:]) == [5001 + 70, 4999 + 69])
    #expect(beat(&watch, [:]) == nil)
  }

  @Test("a commit whose report comes after the loss counts as one more, and further losses count anew")
  func again() {
    var watch = LedgerWatch()
    watch.made(10, in: side)
    #expect(beat(&watch, [side: 8]) == [10, 8])
    watch.made(11, in: side)
    #expect(beat(&watch, [side: 8]) == [11, 10])
    // The server goes on with what it has, also for the session of another.
    watch.made(12, in: side)
    #expect(beat(&watch, [side: 12, other: 50]) == nil)
    #expect(beat(&watch, [side: 12, other: 45]) == [50, 45])
    #expect(beat(&watch, [side: 12, other: 47]) == nil)
    #expect(beat(&watch, [side: 11, other: 46]) == [12 + 47, 11 + 46])
  }

  @Test("ledgers whose sessions ended long ago are forgotten, those of sessions are not")
  func bound() {
    var (watch, found) = (LedgerWatch(), [own: 1 as Int64])
    watch.made(1, in: own)
    for session in 1000..<1500 as Range<Int64> {
      found[session] = 7
      #expect(
        beat(&watch, found.filter { watch.known[$0.key] != nil || $0.key == session }, sessions: [own, session]) == nil)
    }
    #expect(watch.known.count == LedgerWatch.mostEnded + 2)
    #expect(watch.known[own] == 1 && watch.known[1499] == 7 && watch.known[1000] == nil)
    #expect(
      beat(&watch, [own: 1, 1499: 6]) == [
        7 * (Int64(LedgerWatch.mostEnded) + 1), 6 * (Int64(LedgerWatch.mostEnded) + 1),
      ])
  }

  @Test("a loss that another instance has noticed is reported once, also at the start if it is recent")
  func told() {
    let loss = LostCommits(made: 9, found: 4, at: Timestamp(microseconds: 1_000_000), server: 77)
    let (soon, late) = (loss.at + .seconds(60), loss.at + .seconds(7200))
    var (running, starting, later, noticing) = (LedgerWatch(), LedgerWatch(), LedgerWatch(), LedgerWatch())
    #expect(!reports(&running, nil, at: loss.at))
    #expect(reports(&running, loss, at: late), "however long it was cut off")
    #expect(!reports(&running, loss, at: late))
    #expect(reports(&starting, loss, at: soon) && !reports(&starting, loss, at: soon))
    #expect(!reports(&later, loss, at: late) && !reports(&later, loss, at: late))
    noticing.reported(on: 77)
    #expect(!reports(&noticing, loss, at: soon))
    let next = LostCommits(made: 9, found: 4, at: late, server: 78)
    #expect(reports(&noticing, next, at: late) && reports(&later, next, at: late))
  }

  @Test("a loss is read as it is stored, and nothing else is")
  func text() {
    let loss = LostCommits(made: 9, found: 4, at: Timestamp(microseconds: 1_000_000), server: 77)
    #expect(loss.text == "9 4 1000000 77" && LostCommits(loss.text) == loss && loss.count == 5)
    for text in [
      "", "9 4 1000000", "4 9 1000000 77", "-1 -2 0 0", "9 4 -9223372036854775808 77", "x 4 1000000 77",
      "9 4 1000000 77 5",
    ] {
      #expect(LostCommits(text) == nil, "\(text)")
    }
    #expect(loss.isShown(at: loss.at + .seconds(6 * 86_400)) && !loss.isShown(at: loss.at + LostCommits.shownFor))
  }
}

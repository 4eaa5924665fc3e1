import RedialCore
import Testing

@testable import RedialPostgres

@Suite("The chain of works on one connection")
struct CommitChainTests {
  typealias Chain = CommitChain<Int64>

  /// A chain with a connection, to which changes with these numbers were submitted.
  private func chain(_ numbers: ClosedRange<Int64>) -> Chain {
    var chain = Chain(inFlight: 2)
    chain.connected()
    for number in numbers { chain.submit(number, as: number, isChange: true) }
    return chain
  }

  private func sent(_ chain: inout Chain) -> [Int64] {
    var sent: [Int64] = []
    while case .send(let link) = chain.next() { sent.append(link.work) }
    return sent
  }

  @Test("two works are in flight, and the next follows when the first has ended")
  func depth() {
    var chain = chain(1...4)
    #expect(sent(&chain) == [1, 2])
    #expect(chain.didMake() == 1 && chain.made == 1)
    #expect(sent(&chain) == [3])
  }

  @Test("after a failure all behind it fail, also those that come later, and their numbers are used again")
  func failure() {
    var chain = chain(1...3)
    #expect(sent(&chain) == [1, 2])
    #expect(chain.didFail().map { !$0.isConsequence && $0.work == 1 } == true)
    #expect(sent(&chain).isEmpty)
    #expect(chain.didFail().map { $0.isConsequence && $0.work == 2 } == true)
    guard case .refuse(3) = chain.next() else { return #expect(Bool(false), "3 was sent without 2") }
    chain.submit(10, as: 1, isChange: true)
    #expect(sent(&chain) == [10])
  }

  @Test("a work that is sent again takes those behind it along")
  func repetition() {
    var chain = chain(1...3)
    #expect(sent(&chain) == [1, 2])
    chain.repeatOldest { $0 = 100 }
    #expect(sent(&chain).isEmpty)
    #expect(chain.didFail() == nil)
    #expect(sent(&chain) == [100, 2])
    #expect(chain.links.map(\.repetitions) == [1, 0, 0])
  }

  @Test("after a lost connection the database says which works were made, and the others are sent again")
  func doubt() {
    var chain = chain(1...3)
    #expect(sent(&chain) == [1, 2])
    #expect(chain.lose() == [1, 2])
    #expect(chain.isInDoubt && sent(&chain).isEmpty)
    // Lost again before it was asked: nothing new is in doubt.
    #expect(chain.lose().isEmpty)
    #expect(chain.resolved(through: 1) == [1])
    #expect(!chain.isInDoubt && chain.made == 1)
    #expect(sent(&chain) == [2, 3])
  }

  @Test("a work that must be alone is sent when nothing else is in flight, and nothing is sent beside it")
  func alone() {
    var chain = Chain(inFlight: 2)
    chain.connected()
    chain.submit(1, as: 1, isChange: true)
    chain.submit(2, as: 2, isChange: true, isAlone: true)
    chain.submit(3, as: 3, isChange: true)
    #expect(sent(&chain) == [1])
    #expect(chain.didMake() == 1)
    #expect(sent(&chain) == [2])
    #expect(chain.didMake() == 2)
    #expect(sent(&chain) == [3])
  }

  /// A database that makes works of a chain in order, and may lose its connection at any moment: before it has read a
  /// work, or after it has made it and before it has answered.
  @Test("whatever fails and whenever the connection is lost, each work is made once, in order, or not at all")
  func exactlyOnce() {
    let refused = (1...200).reduce(0) { $0 + run(seed: $1) }
    #expect(refused > 200, "the runs contain failures")
  }

  /// Returns the number of works that were refused.
  private func run(seed: UInt64) -> Int {
    var random = RandomSource(seed: seed)
    var chain = Chain(inFlight: 2)
    var (made, reported, refused): ([Int64], [Int64], [Int64]) = ([], [], [])
    // Works on their way to the database, and its answers on their way back.
    var (requests, answers): ([(work: Int64, sequence: Int64)], [Bool]) = ([], [])
    var (work, ledger, sequence): (Int64, Int64, Int64) = (0, 0, 0)
    for step in 0..<2000 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0...2 where step < 1800 && chain.links.count < 2:
        work += 1
        sequence += 1
        chain.submit(work, as: sequence, isChange: true)
      case 3, 4:
        guard !requests.isEmpty else { continue }
        let request = requests.removeFirst()
        let fails = request.sequence != ledger + 1 || Int.random(in: 0..<8, using: &random) == 0
        if !fails {
          ledger = request.sequence
          made.append(request.work)
        }
        answers.append(!fails)
      case 5, 6:
        guard !answers.isEmpty else { continue }
        if answers.removeFirst() {
          reported.append(chain.didMake())
        } else if Bool.random(using: &random), chain.links.first.map({ $0.repetitions < 3 }) == true {
          chain.repeatOldest()
        } else if let failed = chain.didFail() {
          refused.append(failed.work)
        }
      case 7 where !chain.isLost && Int.random(in: 0..<5, using: &random) == 0:
        _ = chain.lose()
        // Some of what was sent still arrives.
        for request in requests.prefix(Int.random(in: 0...2, using: &random)) where request.sequence == ledger + 1 {
          ledger = request.sequence
          made.append(request.work)
        }
        (requests, answers) = ([], [])
      case 8 where chain.isLost:
        reported += chain.resolved(through: ledger)
      default: break
      }
      while true {
        let step = chain.next()
        if case .send(let link) = step { requests.append((link.work, link.sequence)); continue }
        if case .refuse(let work) = step { refused.append(work); continue }
        break
      }
      // Who submits uses the number of a failed work again, once all before it have an outcome.
      if chain.links.isEmpty { sequence = chain.made }
    }
    for _ in 0..<10_000 where !chain.links.isEmpty {
      if chain.isLost { reported += chain.resolved(through: ledger) }
      while true {
        let step = chain.next()
        if case .send(let link) = step { requests.append((link.work, link.sequence)); continue }
        if case .refuse(let work) = step { refused.append(work); continue }
        break
      }
      if !requests.isEmpty {
        let request = requests.removeFirst()
        let fits = request.sequence == ledger + 1
        if fits {
          ledger = request.sequence
          made.append(request.work)
        }
        answers.append(fits)
      }
      while !answers.isEmpty {
        if answers.removeFirst() {
          reported.append(chain.didMake())
        } else if let failed = chain.didFail() {
          refused.append(failed.work)
        }
      }
    }
    #expect(chain.links.isEmpty, "seed \(seed)")
    #expect(made == reported, "seed \(seed): what was made is what was reported as made, in order")
    #expect(Set(made).isDisjoint(with: refused), "seed \(seed)")
    #expect(made.count + refused.count == Int(work), "seed \(seed): each has one outcome")
    #expect(made.count > 20, "seed \(seed)")
    return refused.count
  }
}

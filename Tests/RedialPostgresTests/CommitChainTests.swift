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

  @Test(
    "after a failure all behind it fail, also those that come later, and their numbers are used again"
  )
  func failure() {
    var chain = chain(1...3)
    #expect(sent(&chain) == [1, 2])
    #expect(chain.didFail().map { !$0.isConsequence && $0.work == 1 } == true)
    #expect(sent(&chain).isEmpty)
    #expect(chain.didFail().map { $0.isConsequence && $0.work == 2 } == true)
    guard case .refuse(3) = chain.next() else {
      return #expect(Bool(false), "3 was sent without 2")
    }
    chain.submit(10, as: 1, isChange: true)
    #expect(sent(&chain) == [10])
  }

  @Test("all works but those that were made are made anew for another server")
  func changed() {
    var chain = chain(1...3)
    #expect(sent(&chain) == [1, 2])
    #expect(chain.lose() == [1, 2])
    chain.resolved(through: 1)
    chain.changeAll { $0 * 10 }
    guard case .answer(let link) = chain.next(), link.work == 1 else {
      return #expect(Bool(false), "1 was made")
    }
    chain.didAnswer()
    #expect(sent(&chain) == [20, 30])
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

  @Test(
    "after a lost connection the database says which works were made, and the others are sent again"
  )
  func doubt() {
    var chain = chain(1...3)
    #expect(sent(&chain) == [1, 2])
    #expect(chain.lose() == [1, 2])
    #expect(chain.isInDoubt && sent(&chain).isEmpty)
    // Lost again before it was asked: nothing new is in doubt.
    #expect(chain.lose().isEmpty)
    chain.resolved(through: 1)
    guard case .answer(let link) = chain.next() else {
      return #expect(Bool(false), "1 is not answered")
    }
    #expect(link.work == 1 && chain.made == 0)
    chain.didAnswer()
    #expect(!chain.isInDoubt && chain.made == 1)
    #expect(sent(&chain) == [2, 3])
  }

  @Test(
    "a look-up that succeeds behind a change that is sent again is sent again, too, and not reported before it"
  )
  func orderOfLookups() {
    var chain = chain(1...1)
    chain.submit(50, as: 1, isChange: false)
    #expect(sent(&chain) == [1, 50])
    chain.repeatOldest()
    #expect(chain.didMake() == nil)
    #expect(sent(&chain) == [1, 50])
    #expect(chain.didMake() == 1 && chain.didMake() == 50)
  }

  @Test("a change that was made behind a look-up of which the answer was lost is answered after it")
  func lostLookup() {
    var chain = Chain(inFlight: 2)
    chain.connected()
    chain.submit(50, as: 0, isChange: false)
    chain.submit(1, as: 1, isChange: true)
    chain.submit(2, as: 2, isChange: true)
    #expect(sent(&chain) == [50, 1])
    _ = chain.lose()
    chain.resolved(through: 1)
    #expect(sent(&chain) == [50])
    #expect(chain.didMake() == 50)
    guard case .answer(let link) = chain.next() else {
      return #expect(Bool(false), "1 is not answered")
    }
    #expect(link.work == 1)
    // Lost again before the answer was read.
    _ = chain.lose()
    chain.resolved(through: 1)
    guard case .answer = chain.next() else { return #expect(Bool(false), "1 is not answered") }
    chain.didAnswer()
    #expect(sent(&chain) == [2])
  }

  @Test("the number of a work that was made and is reported as not made is used again")
  func forgotten() {
    var chain = chain(1...1)
    #expect(sent(&chain) == [1])
    _ = chain.lose()
    chain.resolved(through: 1)
    guard case .answer = chain.next() else { return #expect(Bool(false), "1 is not answered") }
    chain.didForget()
    chain.submit(2, as: 1, isChange: true, isAlone: true)
    #expect(sent(&chain) == [2])
  }

  @Test(
    "a work that must be alone is sent when nothing else is in flight, and nothing is sent beside it"
  )
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
  /// work, or after it has made it and before it has answered. Look-ups always succeed.
  private struct Database {
    struct Request {
      let work: Int64
      let sequence: Int64
      let isChange: Bool
    }
    var ledger: Int64 = 0
    var made: [Int64] = []
    /// Works on their way to it, and its answers on their way back.
    var (requests, answers): ([Request], [Bool]) = ([], [])

    mutating func perform(fails: Bool = false) {
      guard !requests.isEmpty else { return }
      let request = requests.removeFirst()
      guard request.isChange else { return answers.append(true) }
      let isMade = request.sequence == ledger + 1 && !fails
      if isMade {
        ledger = request.sequence
        made.append(request.work)
      }
      answers.append(isMade)
    }

    /// Some of what was sent still arrives.
    mutating func cut(after count: Int) {
      for _ in 0..<count { perform() }
      (requests, answers) = ([], [])
    }
  }

  @Test(
    "whatever fails and whenever the connection is lost, each work is made once or not at all, with outcomes in order"
  )
  func exactlyOnce() {
    let refused = (1...200).reduce(0) { $0 + run(seed: $1) }
    #expect(refused > 200, "the runs contain failures")
  }

  /// Returns the number of works that were refused.
  private func run(seed: UInt64) -> Int {
    var random = RandomSource(seed: seed)
    var (chain, database) = (Chain(inFlight: 2), Database())
    // Outcomes in the order in which they are reported, and the works that they are of.
    var (outcomes, isMade): ([Int64], [Int64: Bool]) = ([], [:])
    var (work, sequence): (Int64, Int64) = (0, 0)
    var lookups: Set<Int64> = []
    func report(_ work: Int64, _ made: Bool) {
      outcomes.append(work)
      isMade[work] = made
    }
    func send() {
      while true {
        switch chain.next() {
        case .send(let link):
          database.requests.append(
            .init(work: link.work, sequence: link.sequence, isChange: link.isChange))
        case .answer(let link):
          // The connection may be lost while the answer is read.
          if Int.random(in: 0..<5, using: &random) == 0 {
            _ = chain.lose()
            return
          }
          chain.didAnswer()
          report(link.work, true)
        case .refuse(let work): report(work, false)
        case .wait: return
        }
      }
    }
    func receive(repeats: Bool) {
      guard !database.answers.isEmpty else { return }
      if database.answers.removeFirst() {
        if let work = chain.didMake() { report(work, true) }
      } else if repeats, chain.links.first.map({ $0.repetitions < 3 }) == true {
        chain.repeatOldest()
      } else if let failed = chain.didFail() {
        report(failed.work, false)
      }
    }
    for step in 0..<2000 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0...2 where step < 1800 && chain.links.count < 2:
        work += 1
        let isChange = Int.random(in: 0..<4, using: &random) > 0
        if isChange { sequence += 1 } else { lookups.insert(work) }
        chain.submit(work, as: sequence, isChange: isChange)
      case 3, 4: database.perform(fails: Int.random(in: 0..<8, using: &random) == 0)
      case 5, 6: receive(repeats: Bool.random(using: &random))
      case 7 where !chain.isLost && Int.random(in: 0..<5, using: &random) == 0:
        _ = chain.lose()
        database.cut(after: Int.random(in: 0...2, using: &random))
      case 8 where chain.isLost:
        database.cut(after: 0)
        chain.resolved(through: database.ledger)
      default: break
      }
      send()
      // Who submits uses the number of a failed work again, once all before it have an outcome.
      if chain.links.isEmpty { sequence = chain.made }
    }
    for _ in 0..<10_000 where !chain.links.isEmpty {
      if chain.isLost {
        database.cut(after: 0)
        chain.resolved(through: database.ledger)
      }
      send()
      database.perform()
      receive(repeats: false)
    }
    #expect(chain.links.isEmpty, "seed \(seed)")
    #expect(
      outcomes == Array(1...work),
      "seed \(seed): outcomes come in the order of submission, one for each work")
    #expect(
      database.made == outcomes.filter { isMade[$0] == true && !lookups.contains($0) },
      "seed \(seed): what was made is what was reported as made, in order")
    #expect(database.made.count > 20, "seed \(seed)")
    return isMade.values.filter { !$0 }.count
  }
}

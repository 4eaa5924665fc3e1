import Dispatch
import Synchronization
import Testing

@testable import RedialLanes

@Suite("Mailbox")
struct MailboxTests {
  private struct Letter: Sendable, Hashable {
    var sender: Int
    var number: Int
  }

  @Test("a batch has all messages in the order of their arrival")
  func order() {
    let mailbox = Mailbox<Int>()
    _ = mailbox.post(contentsOf: [1, 2])
    _ = mailbox.post(3)
    _ = mailbox.post(contentsOf: [4, 5])
    var batch: [Int] = []
    mailbox.take(&batch)
    #expect(batch == [1, 2, 3, 4, 5])
    mailbox.take(&batch)
    #expect(batch.isEmpty)
  }

  @Test("only the first message of a batch must wake the receiver")
  func firstWakes() {
    let mailbox = Mailbox<Int>()
    var batch: [Int] = []
    for _ in 1...3 {
      #expect(mailbox.post(contentsOf: []) == .queued)
      #expect(mailbox.post(1) == .mustWake)
      #expect(mailbox.post(2) == .queued)
      #expect(mailbox.post(contentsOf: [3]) == .queued)
      mailbox.take(&batch)
      #expect(batch == [1, 2, 3])
    }
    #expect(mailbox.post(contentsOf: [1, 2]) == .mustWake)
  }

  @Test("a receiver that stays awake is woken only after it has gone to sleep")
  func staysAwake() {
    let mailbox = Mailbox<Int>()
    var batch: [Int] = []
    #expect(mailbox.post(1) == .mustWake)
    mailbox.take(&batch, staysAwake: true)
    #expect(mailbox.post(2) == .queued)
    // It must not sleep on a message.
    #expect(!mailbox.maySleep())
    #expect(mailbox.post(3) == .queued)
    mailbox.take(&batch, staysAwake: true)
    #expect(batch == [2, 3])
    #expect(mailbox.maySleep())
    #expect(mailbox.post(4) == .mustWake)
    #expect(mailbox.post(5) == .queued)
  }

  @Test("a receiver that was roused takes one more batch before it sleeps, even an empty one")
  func roused() {
    let mailbox = Mailbox<Int>()
    var batch: [Int] = []
    #expect(mailbox.rouse() == .mustWake)
    // Whoever posts now relies on the batch that the receiver is about to take.
    #expect(mailbox.post(1) == .queued)
    mailbox.take(&batch, staysAwake: true)
    #expect(batch == [1])
    #expect(mailbox.rouse() == .queued)
    #expect(!mailbox.maySleep())
    mailbox.take(&batch, staysAwake: true)
    #expect(batch.isEmpty)
    #expect(mailbox.maySleep())
    #expect(mailbox.post(2) == .mustWake)
    _ = mailbox.close()
    #expect(mailbox.rouse() == .closed)
  }

  @Test("a closed mailbox gives back what was not taken, and refuses the rest")
  func closing() {
    let mailbox = Mailbox<Int>()
    _ = mailbox.post(contentsOf: [1, 2])
    #expect(mailbox.close() == [1, 2])
    #expect(mailbox.post(3) == .closed)
    #expect(mailbox.post(contentsOf: [4]) == .closed)
    #expect(mailbox.close().isEmpty)
  }

  @Test("the memory of a usual batch is used again, that of an exceptionally large one is freed")
  func keptMemory() {
    let mailbox = Mailbox<Int>()
    let most = Mailbox<Int>.keptCapacity
    var batch: [Int] = []
    for _ in 1...3 {
      for number in 1...100 { _ = mailbox.post(number) }
      mailbox.take(&batch)
    }
    // This array and the one in the mailbox take turns.
    #expect(batch.capacity >= 100 && batch.capacity <= most)
    for number in 0..<most * 4 { _ = mailbox.post(number) }
    mailbox.take(&batch)
    #expect(batch.count == most * 4)
    for _ in 1...3 {
      _ = mailbox.post(1)
      mailbox.take(&batch)
      #expect(batch == [1])
      #expect(batch.capacity <= most)
    }
  }

  @Test(
    "of many senders no message is lost or out of order, and there is one wake-up for each batch",
    arguments: [false, true])
  func manySenders(staysAwake: Bool) {
    let (senders, each) = (8, 5000)
    let mailbox = Mailbox<Letter>()
    let wakeUps = DispatchSemaphore(value: 0)
    let wakeUpCount = Atomic(0)
    let gone = DispatchGroup()
    for sender in 0..<senders {
      DispatchQueue(label: "sender \(sender)").async(group: gone) {
        for number in stride(from: 0, to: each, by: 2) {
          let letters = [Letter(sender: sender, number: number), Letter(sender: sender, number: number + 1)]
          let postings = number % 3 == 0 ? letters.map { mailbox.post($0) } : [mailbox.post(contentsOf: letters)]
          for posting in postings where posting == .mustWake {
            wakeUpCount.add(1, ordering: .relaxed)
            wakeUps.signal()
          }
        }
      }
    }
    var next = Array(repeating: 0, count: senders)
    var (batch, batches, isInOrder) = ([Letter](), 0, true)
    while next.contains(where: { $0 < each }) {
      // Without the wake-up that it waits for, this would never end.
      if !staysAwake || mailbox.maySleep() { wakeUps.wait() }
      mailbox.take(&batch, staysAwake: staysAwake)
      batches += 1
      for letter in batch {
        isInOrder = isInOrder && next[letter.sender] == letter.number
        next[letter.sender] += 1
      }
    }
    gone.wait()
    #expect(isInOrder)
    #expect(next == Array(repeating: each, count: senders))
    #expect(wakeUpCount.load(ordering: .relaxed) <= batches)
    if !staysAwake { #expect(wakeUpCount.load(ordering: .relaxed) == batches) }
  }

  @Test("a message that is posted while the mailbox closes is taken, given back or refused")
  func closingAmongSenders() {
    let (senders, each) = (8, 2000)
    let mailbox = Mailbox<Letter>()
    let refused = Mutex<[Letter]>([])
    let gone = DispatchGroup()
    for sender in 0..<senders {
      DispatchQueue(label: "sender \(sender)").async(group: gone) {
        for number in 0..<each {
          let letter = Letter(sender: sender, number: number)
          if mailbox.post(letter) == .closed { refused.withLock { $0.append(letter) } }
        }
      }
    }
    var (batch, all) = ([Letter](), [Letter]())
    while all.count < senders * each / 4 {
      mailbox.take(&batch)
      all += batch
    }
    all += mailbox.close()
    gone.wait()
    all += refused.withLock { $0 }
    #expect(all.count == senders * each)
    #expect(Set(all).count == senders * each)
  }
}

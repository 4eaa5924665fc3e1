/// The answers to the lines of a stream, sent in the order of the lines but added in any order.
///
/// It keeps the lines in process: those that were read and not answered yet. Their number and size, and the size of the
/// answers that wait, decide when to pause reading. Each method takes constant time, amortised.
struct OrderedAnswers {
  private struct Slot {
    let line: Int
    let size: Int
    var answer: [UInt8]?
  }

  private var slots: [Slot] = []
  /// How many of the first of `slots` were removed.
  private var dropped = 0
  /// The index of the first line in the queue.
  private var first = 0
  /// Bytes of the lines that have no answer yet, and of the answers that were not sent yet.
  private(set) var bytes = 0

  /// Number of lines in process.
  var count: Int { slots.count - dropped }

  /// Adds a line, which gets the next index, counted from 0.
  ///
  /// - Parameters:
  ///   - line: Its number.
  ///   - size: Its length in bytes.
  mutating func expect(line: Int, size: Int) -> Int {
    slots.append(Slot(line: line, size: size))
    bytes += size
    return first + count - 1
  }

  /// The number of the line with an index; nil if it was answered.
  func line(of index: Int) -> Int? { place(of: index).map { slots[$0].line } }

  /// Adds the answer to a line; only the first counts.
  mutating func put(_ answer: [UInt8], at index: Int) {
    guard let place = place(of: index), slots[place].answer == nil else { return }
    slots[place].answer = answer
    bytes += answer.count - slots[place].size
  }

  /// Removes the next answers, each with a line feed: all of them, or only until they have that many bytes.
  mutating func take(atLeast enough: Int) -> [UInt8] {
    var text: [UInt8] = []
    while dropped < slots.count, text.count < enough, let answer = slots[dropped].answer {
      text += answer
      bytes -= answer.count
      text.append(UInt8(ascii: "\n"))
      slots[dropped].answer = nil
      dropped += 1
      first += 1
    }
    if dropped == slots.count || dropped > 1024 {
      slots.removeFirst(dropped)
      dropped = 0
    }
    return text
  }

  private func place(of index: Int) -> Int? {
    let place = dropped + index - first
    return index >= first && place < slots.count ? place : nil
  }
}

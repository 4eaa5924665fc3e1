/// The answers to the lines of a stream, given in the order of the lines though they come in any.
///
/// It keeps the lines in work: those that were read and have no answer yet. How many they are, and
/// how large they and the answers that are held are, tells when to take no more. Each operation is constant in time, amortised.
struct OrderedAnswers {
  private struct Slot {
    let line: Int
    let size: Int
    var answer: [UInt8]?
  }

  private var slots: [Slot] = []
  /// How many of the first of `slots` are gone already.
  private var dropped = 0
  /// The index of the first line that is there.
  private var first = 0
  /// Bytes of the lines that have no answer yet, and of the answers that were not taken out yet.
  private(set) var bytes = 0

  /// Number of lines in work.
  var count: Int { slots.count - dropped }

  /// Notes a line, which gets the next index, counted from 0.
  ///
  /// - Parameters:
  ///   - line: Its number.
  ///   - size: Its length in bytes.
  mutating func expect(line: Int, size: Int) -> Int {
    slots.append(Slot(line: line, size: size))
    bytes += size
    return first + count - 1
  }

  /// The number of the line of an index; nil when its answer was given.
  func line(of index: Int) -> Int? { place(of: index).map { slots[$0].line } }

  /// Notes the answer to a line; the first counts.
  mutating func put(_ answer: [UInt8], at index: Int) {
    guard let place = place(of: index), slots[place].answer == nil else { return }
    slots[place].answer = answer
    bytes += answer.count - slots[place].size
  }

  /// Takes out the answers that are next, a line feed behind each: all of them, or, once they have that many bytes, no
  /// more.
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

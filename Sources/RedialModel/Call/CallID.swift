public import RedialCore

/// The id of a call: a 63-bit integer ordered by time, so that it can be the store's row id and new rows go to the
/// end of the table.
///
/// From the highest bit: 43 bits of milliseconds since 1970, 10 bits of instance, 10 bits of sequence. Its text is
/// `call_` and 13 characters of Crockford's base 32, which sort as the integers do.
public struct CallID: Sendable, Comparable {
  /// The integer; never negative.
  public var rawValue: Int64

  /// The number of the instance that has given it.
  public var instance: Int { Int(rawValue >> 10 & Int64(Self.maximumInstance)) }

  /// The largest instance number.
  public static let maximumInstance = 1023

  /// Creates an id from its integer.
  public init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  /// Reads the text of an id, in upper or lower case; nil if it is not one.
  public init?(_ text: some StringProtocol) {
    let prefix = "call_"
    guard text.utf8.count == prefix.utf8.count + 13, text.hasPrefix(prefix) else { return nil }
    var value: UInt64 = 0
    for character in text.utf8.dropFirst(prefix.utf8.count) {
      guard let digit = Self.digit(character), value >> 58 == 0 else { return nil }
      value = value << 5 | digit
    }
    rawValue = Int64(value)
  }

  /// When the call was accepted, to the millisecond.
  public var createdAt: Timestamp {
    Timestamp(microseconds: (rawValue >> 20) * 1000)
  }

  /// The 13 characters of the id, without the prefix.
  public var characters: String { text(after: "", count: 13) }

  /// The text of the id after a prefix, such as a path, allocated once.
  public func description(after prefix: StaticString) -> String { text(after: prefix, count: Self.textLength) }

  /// The length of the text of an id, in bytes.
  static let textLength = 18

  /// The last `count` bytes of the text, of at most ``textLength``, after a prefix.
  fileprivate func text(after prefix: StaticString, count: Int) -> String {
    let start = prefix.utf8CodeUnitCount
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: start + Self.textLength) { place in
      // Sound: the id is written to the last bytes of the buffer, and the needed part moved to the end of the prefix.
      guard let base = place.baseAddress else { return "" }
      write(to: base + start)
      if count < Self.textLength { (base + start).update(from: base + start + Self.textLength - count, count: count) }
      base.update(from: prefix.utf8Start, count: start)
      return String(decoding: UnsafeBufferPointer(start: base, count: start + count), as: UTF8.self)
    }
  }

  /// Writes the text of the id to memory of at least ``textLength`` bytes.
  func write(to place: UnsafeMutablePointer<UInt8>) {
    let prefix: StaticString = "call_"
    let alphabet: StaticString = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
    // Sound: the alphabet has 32 letters, and five bits select one.
    let letters = alphabet.utf8Start
    for position in 0..<5 { place[position] = prefix.utf8Start[position] }
    for position in 0..<13 {
      place[5 + position] = letters[Int(truncatingIfNeeded: rawValue >> Int64(60 - 5 * position)) & 31]
    }
  }

  /// Whether the first id is older.
  @inlinable
  public static func < (a: CallID, b: CallID) -> Bool {
    a.rawValue < b.rawValue
  }

  private static func digit(_ character: UInt8) -> UInt64? {
    switch character {
    case 0x30...0x39: return UInt64(character - 0x30)
    default: break
    }
    let letters: StaticString = "ABCDEFGHJKMNPQRSTVWXYZ"
    let upper = character & 0xDF
    return letters.withUTF8Buffer { $0.firstIndex(of: upper) }.map { UInt64($0 + 10) }
  }
}

extension CallID: CustomStringConvertible {
  /// The text of the id.
  public var description: String { description(after: "") }
}

/// Creates ids in ascending order.
public struct CallIDSource: Sendable {
  private var last: Int64
  private let instance: Int64

  public var number: Int { Int(instance) }

  /// A source for one instance, 0...1023, whose ids are all above `last`.
  public init(instance: Int = 0, after last: CallID = CallID(rawValue: 0)) {
    self.instance = Int64(min(max(0, instance), CallID.maximumInstance))
    self.last = last.rawValue
  }

  /// The same source under another instance's number, whose ids are also above a given one.
  public func joined(as instance: Int, after other: CallID) -> CallIDSource {
    CallIDSource(instance: instance, after: CallID(rawValue: max(last, other.rawValue)))
  }

  /// The next id. If a millisecond's sequence is used up, or the clock went back, it borrows from the next
  /// milliseconds rather than repeat an id.
  ///
  /// - Parameter skipped: How many ids to leave out before it, 0...7, and thirty times as many at a millisecond's
  ///   beginning. Drawn at random, it hides from the difference of two ids how many others were given out in between.
  public mutating func next(at now: Timestamp, skipping skipped: Int = 0) -> CallID {
    let step = Int64(min(max(0, skipped), 7))
    let fresh = max(0, now.microseconds / 1000) << 20 | instance << 10
    if fresh > last {
      last = fresh + 30 * step
    } else if last & 1023 < 1023 - step, last >> 10 & 1023 == instance {
      last += 1 + step
    } else {
      last = ((last >> 20) + 1) << 20 | instance << 10
    }
    return CallID(rawValue: last)
  }
}

// Written out to be inlined: an id is as cheap in a dictionary as its integer.
extension CallID: Hashable {
  /// Whether both are the same id.
  @inlinable
  public static func == (one: CallID, other: CallID) -> Bool { one.rawValue == other.rawValue }

  /// Feeds the integer to a hasher.
  @inlinable
  public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}

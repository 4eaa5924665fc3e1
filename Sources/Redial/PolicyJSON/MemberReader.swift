internal import RedialText

/// Reads the members of an object of the API, each of which may be omitted. Others are refused, as by the service.
struct MemberReader<Key: CodingKey & CaseIterable> {
  private let members: KeyedDecodingContainer<Key>

  private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// - Throws: `DecodingError` for a member with another name.
  init(_ decoder: any Decoder, _ keys: Key.Type = Key.self) throws {
    members = try decoder.container(keyedBy: Key.self)
    let known = Set(Key.allCases.map(\.stringValue))
    for key in try decoder.container(keyedBy: AnyKey.self).allKeys where !known.contains(key.stringValue) {
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: decoder.codingPath + [key],
          debugDescription: "is none of \(Key.allCases.map(\.stringValue).joined(separator: ", "))"))
    }
  }

  /// An error about a member.
  func fault(_ key: Key, _ reason: String) -> DecodingError {
    .dataCorruptedError(forKey: key, in: members, debugDescription: reason)
  }

  /// A member; nil if it is omitted, or null, which means the same.
  func value<Value: Decodable>(_ key: Key, _ type: Value.Type = Value.self) throws -> Value? {
    try members.decodeIfPresent(Value.self, forKey: key)
  }

  /// Whether a member is null.
  func isNull(_ key: Key) throws -> Bool { try members.contains(key) && members.decodeNil(forKey: key) }

  /// A whole number in a range.
  func integer(_ key: Key, in range: ClosedRange<Int>) throws -> Int? {
    guard let number: Double = try value(key) else { return nil }
    guard let whole = Int(exactly: number), range.contains(whole) else { throw outside(key, range) }
    return whole
  }

  /// A number in a range.
  func number(_ key: Key, in range: ClosedRange<Int>) throws -> Double? {
    guard let number: Double = try value(key) else { return nil }
    guard number >= Double(range.lowerBound), number <= Double(range.upperBound) else { throw outside(key, range) }
    return number
  }

  private func outside(_ key: Key, _ range: ClosedRange<Int>) -> DecodingError {
    fault(key, "must be a number from \(range.lowerBound) to \(range.upperBound)")
  }

  /// A duration in a range.
  func duration(_ key: Key, in range: ClosedRange<Duration>) throws -> Duration? {
    try value(key, String.self).map { try duration($0, key, in: range) }
  }

  private func duration(_ text: String, _ key: Key, in range: ClosedRange<Duration>) throws -> Duration {
    guard let duration = DurationText.parse(text) else {
      throw fault(key, "must be a duration such as \"500ms\" or \"15m\", and is \(text)")
    }
    guard range.contains(duration) else {
      let (least, most) = (DurationText.format(range.lowerBound), DurationText.format(range.upperBound))
      throw fault(key, "must be from \(least) to \(most), and is \(text)")
    }
    return duration
  }

  /// A list of durations.
  func durations(_ key: Key, in range: ClosedRange<Duration>, count: ClosedRange<Int>) throws -> [Duration]? {
    guard let texts: [String] = try value(key) else { return nil }
    guard count.contains(texts.count) else {
      throw fault(key, "must have \(count.lowerBound) to \(count.upperBound) elements")
    }
    return try texts.map { try duration($0, key, in: range) }
  }

  /// One of some words.
  func word(_ key: Key, of words: [String]) throws -> String? {
    guard let word: String = try value(key) else { return nil }
    guard words.contains(word) else { throw fault(key, "must be \(words.joined(separator: " or ")), and is \(word)") }
    return word
  }

  /// The value of one of some words.
  func value<Value>(_ key: Key, in words: [(word: String, value: Value)]) throws -> Value? {
    try word(key, of: words.map(\.word)).map { PolicyVocabulary.value(of: $0, in: words) }
  }

  /// Statuses and ranges of them, as text or as numbers.
  func statuses(_ key: Key) throws -> StatusSet? {
    guard let items: [StatusItem] = try value(key) else { return nil }
    guard items.count <= WirePolicy.maximumRanges else {
      throw fault(key, "has more than \(WirePolicy.maximumRanges) elements")
    }
    return StatusSet(
      try items.map { item in
        guard let range = PolicyVocabulary.statusRange(item.text) else {
          throw fault(key, "must be statuses from 100 to 999 or ranges such as \"500-599\", and one is \(item.text)")
        }
        return range
      })
  }

  /// A status, or a range of them.
  private struct StatusItem: Decodable {
    let text: String

    init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      text = try (try? value.decode(Int.self)).map { "\($0)" } ?? value.decode(String.self)
    }
  }
}

internal import RedialCore
internal import RedialJSON
internal import RedialText

// Members whose value is one plain value.

/// True or false.
struct BoolMember: MemberForm {
  let usual: Bool

  init(unless usual: Bool) {
    self.usual = usual
  }

  func read(_ name: StaticString, into value: inout Bool, from reader: inout DescriptorReader) throws(JSONError) {
    value = try reader.bool("/\(name)") ?? value
  }

  func write(_ name: StaticString, _ value: Bool, hiding redaction: Redaction?, to writer: inout JSONWriter) {
    if value != usual { writer.field(name, value) }
  }
}

/// One of a few words.
struct WordMember<Word: RawRepresentable & CaseIterable & Equatable>: MemberForm where Word.RawValue == String {
  let usual: Word

  init(unless usual: Word) {
    self.usual = usual
  }

  func read(_ name: StaticString, into value: inout Word, from reader: inout DescriptorReader) throws(JSONError) {
    guard let text = try reader.string("/\(name)") else { return }
    guard let word = Word(rawValue: text) else {
      let words = Word.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: " or ")
      return reader.fault("/\(name)", "must be \(words)")
    }
    value = word
  }

  func write(_ name: StaticString, _ value: Word, hiding redaction: Redaction?, to writer: inout JSONWriter) {
    // A default may be changed by a setting; what is stored never depends on one.
    if value != usual { writer.field(name, value.rawValue) }
  }
}

/// A whole number of a range.
struct NumberMember: MemberForm {
  let range: ClosedRange<Int>
  let usual: Int

  init(_ range: ClosedRange<Int>, unless usual: Int) {
    self.range = range
    self.usual = usual
  }

  func read(_ name: StaticString, into value: inout Int, from reader: inout DescriptorReader) throws(JSONError) {
    value = try reader.integer("/\(name)", in: range) ?? value
  }

  func write(_ name: StaticString, _ value: Int, hiding redaction: Redaction?, to writer: inout JSONWriter) {
    if value != usual { writer.field(name, value) }
  }
}

/// A name that the client chooses, such as an ordering key.
struct NameMember: MemberForm {
  func read(_ name: StaticString, into value: inout String?, from reader: inout DescriptorReader) throws(JSONError) {
    value = try reader.name("/\(name)") ?? value
  }

  func write(_ name: StaticString, _ value: String?, hiding redaction: Redaction?, to writer: inout JSONWriter) {
    if let value { writer.field(name, value) }
  }
}

/// A text for people.
struct TextMember: MemberForm {
  /// The longest one, in bytes.
  let longest: Int

  init(longest: Int) {
    self.longest = longest
  }

  func read(_ name: StaticString, into value: inout String?, from reader: inout DescriptorReader) throws(JSONError) {
    guard let text = try reader.string("/\(name)") else { return }
    guard !text.isEmpty, text.utf8.count <= longest, !PlainText.hasControls(text) else {
      return reader.fault("/\(name)", "must have 1 to \(longest) bytes and no control characters")
    }
    value = text
  }

  func write(_ name: StaticString, _ value: String?, hiding redaction: Redaction?, to writer: inout JSONWriter) {
    if let value { writer.field(name, value) }
  }
}

/// The id of a call.
struct CallIDMember: MemberForm {
  func read(_ name: StaticString, into value: inout CallID?, from reader: inout DescriptorReader) throws(JSONError) {
    value = try reader.string("/\(name)").flatMap { CallID($0) }
  }

  func write(_ name: StaticString, _ value: CallID?, hiding redaction: Redaction?, to writer: inout JSONWriter) {
    if let value { writer.field(name, value) }
  }
}

/// A time of Redial's own; a view of the call has null in its place as long as there is none.
struct TimeMember: MemberForm {
  func read(_ name: StaticString, into value: inout Timestamp?, from reader: inout DescriptorReader) throws(JSONError) {
    value = try reader.string("/\(name)").flatMap { TimestampText.parse($0) }
  }

  func write(_ name: StaticString, _ value: Timestamp?, hiding redaction: Redaction?, to writer: inout JSONWriter) {
    if let value { writer.field(name, value) }
  }

  func show(_ name: StaticString, _ value: Timestamp?, hiding redaction: Redaction, to writer: inout JSONWriter) {
    writer.field(name, value)
  }
}

extension DescriptorReader {
  /// A name that the client chooses, such as a target or an ordering key.
  mutating func name(_ pointer: @autoclosure () -> String) throws(JSONError) -> String? {
    guard let text = try string(pointer()) else { return nil }
    // A name that an earlier version accepted stays unchanged.
    guard !text.isEmpty, text.utf8.count <= limits.targetBytes, limits.isAccepted || !PlainText.hasControls(text) else {
      fault(pointer(), "must have 1 to \(limits.targetBytes) bytes and no control characters")
      return nil
    }
    if !limits.isAccepted, !NormalForm.isComposed(text) {
      fault(pointer(), "must be in the normalization form NFC of Unicode")
    }
    return text
  }
}

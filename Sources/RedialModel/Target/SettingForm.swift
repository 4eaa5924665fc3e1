internal import RedialCore
internal import RedialJSON
internal import RedialText

/// How a setting of targets is read, checked, stored, shown and described.
struct SettingForm<Value: Sendable>: Sendable {
  /// What the contract says of it.
  let shape: SettingShape
  /// Reads a value over an earlier one; nil for null, and for one at fault, which the reader has recorded.
  let read: @Sendable (Value?, String, inout DescriptorReader) throws(JSONError) -> Value?
  /// Writes a value, with its secrets or without.
  let write: @Sendable (Value, _ hidingSecrets: Bool, inout JSONWriter) -> Void
}

/// What values a setting takes.
enum SettingShape: Sendable {
  /// `orNull` for one whose null is a value: no limit.
  case whole(ClosedRange<Int>, orNull: Bool = false)
  case number(ClosedRange<Double>, orNull: Bool = false)
  case duration
  case flag
  case words([String])
  case pointers, tls, name, signing
  case object([TargetSetting])
}

extension SettingForm<Int> {
  static func whole(_ range: ClosedRange<Int>) -> Self {
    Self(shape: .whole(range)) { _, pointer, reader throws(JSONError) in
      try reader.integer(pointer, in: range)
    } write: { value, _, writer in
      writer.integer(Int64(value))
    }
  }

  /// A limit, of which null is none: 0.
  static func limit(_ range: ClosedRange<Int>) -> Self {
    Self(shape: .whole(range, orNull: true)) { _, pointer, reader throws(JSONError) in
      let isNone = try reader.json.null() ? true : reader.formerlyNone()
      return try isNone ? 0 : reader.integer(pointer, in: range)
    } write: { value, _, writer in
      if value == 0 { writer.null() } else { writer.integer(Int64(value)) }
    }
  }
}

extension SettingForm<Double> {
  /// A share of a whole.
  static let share = Self(shape: .number(0...1)) { _, pointer, reader throws(JSONError) in
    try reader.number(pointer, in: 0...1)
  } write: { value, _, writer in
    writer.double(value)
  }

  /// A share of new calls; see ``TargetSettings/newCallShare``.
  static let newCallShare = Self(
    shape: .number(TargetSettings.newCallShares)
  ) { _, pointer, reader throws(JSONError) in
    guard let value = try reader.number(pointer) else { return nil }
    if TargetSettings.newCallShares.contains(value) { return value }
    reader.fault(pointer, "must be from 0 to \(TargetSettings.newCallShares.upperBound)")
    return nil
  } write: { value, _, writer in
    writer.double(value)
  }

  /// A limit, of which null is none: 0.
  static func limit(_ range: ClosedRange<Double>) -> Self {
    Self(shape: .number(range, orNull: true)) { _, pointer, reader throws(JSONError) in
      try reader.formerlyNone() ? 0 : reader.limit(pointer, in: range)
    } write: { value, _, writer in
      guard value != 0 else { return writer.null() }
      if let whole = Int64(exactly: value) { writer.integer(whole) } else { writer.double(value) }
    }
  }
}

extension SettingForm<Duration> {
  static func duration(_ range: ClosedRange<Duration>) -> Self {
    Self(shape: .duration) { _, pointer, reader throws(JSONError) in
      try reader.duration(pointer, in: range)
    } write: { value, _, writer in
      writer.string(duration: value)
    }
  }
}

extension SettingForm<Bool> {
  static let flag = Self(shape: .flag) { _, pointer, reader throws(JSONError) in
    try reader.bool(pointer)
  } write: { value, _, writer in
    writer.bool(value)
  }
}

extension SettingForm<Pace> {
  static let pace = Self(shape: .words(Pace.allCases.map(\.rawValue))) { _, pointer, reader throws(JSONError) in
    guard let word = try reader.string(pointer) else { return nil }
    let pace = Pace(rawValue: word)
    if pace == nil { reader.fault(pointer, "must be \"adaptive\" or \"fixed\"") }
    return pace
  } write: { value, _, writer in
    writer.string(value.rawValue)
  }
}

extension SettingForm<[JSONPointer]> {
  static let pointers = Self(shape: .pointers) { _, pointer, reader throws(JSONError) in
    try reader.json.null() ? nil : reader.pointers(pointer)
  } write: { value, _, writer in
    value.write(to: &writer)
  }
}

extension SettingForm<TargetTLS> {
  static let tls = Self(shape: .tls) { earlier, _, reader throws(JSONError) in
    try TargetTLS(&reader, over: earlier ?? TargetTLS())
  } write: { value, _, writer in
    value.write(to: &writer)
  }
}

extension SettingForm<String> {
  static let name = Self(shape: .name) { _, pointer, reader throws(JSONError) in
    try reader.name(pointer)
  } write: { value, _, writer in
    writer.string(value)
  }
}

extension SettingForm<RequestSigning> {
  static let signing = Self(shape: .signing) { _, pointer, reader throws(JSONError) in
    try RequestSigning(at: pointer, from: &reader)
  } write: { value, hidingSecrets, writer in
    value.write(hidingSecrets: hidingSecrets, to: &writer)
  }
}

extension DescriptorReader {
  /// Passes a stored 0, which has meant no limit before that was null; false for another value, which stays.
  fileprivate mutating func formerlyNone() throws(JSONError) -> Bool {
    guard limits.isAccepted, try json.peek() == .number else { return false }
    var ahead = json
    guard try ahead.double() == 0 else { return false }
    json = ahead
    return true
  }
}

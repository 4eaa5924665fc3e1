internal import RedialCore

/// The words of a backoff, in one place for reading and writing.
enum BackoffVocabulary {
  static let strategies = [
    "exponential", "constant", "linear", "polynomial", "fibonacci", "power", "doublingsThenLinear", "schedule",
    "decorrelated", "decorrelatedSmooth",
  ]
  static let jitters = ["none", "full", "equal", "proportional", "additive", "additivePerRetry"]
  static let caps: [(word: String, value: CapMode)] = [
    ("keepingSpread", .keepingSpread), ("afterJitter", .afterJitter), ("beforeJitter", .beforeJitter),
  ]
  static let ends: [(word: String, value: BackoffCurve.AfterSchedule)] = [
    ("repeatLast", .repeatLast), ("stop", .stop),
  ]
}

extension Backoff {
  /// Writes the backoff as one object; ``BackoffDraft`` reads it.
  func write(to writer: inout JSONWriter) {
    writer.beginObject()
    curve.write(to: &writer)
    writer.field("max", maximum)
    if !curve.isRandom { jitter.write(to: &writer) }
    if cap != .keepingSpread { writer.field("cap", Vocabulary.word(of: cap, in: BackoffVocabulary.caps)) }
    writer.endObject()
  }
}

extension BackoffCurve {
  /// Whether it takes no jitter, because it is random itself.
  fileprivate var isRandom: Bool {
    switch self {
    case .decorrelated, .decorrelatedSmooth: true
    default: false
    }
  }

  fileprivate func write(to writer: inout JSONWriter) {
    switch self {
    case .constant(let wait):
      writer.field("strategy", "constant")
      writer.field("initial", wait)
    case .linear(let initial, let increment):
      writer.field("strategy", "linear")
      writer.field("initial", initial)
      writer.field("increment", increment)
    case .exponential(let initial, let multiplier):
      writer.field("strategy", "exponential")
      writer.field("initial", initial)
      writer.field("multiplier", multiplier)
    case .polynomial(let unit, let exponent, let offset, let first):
      writer.field("strategy", "polynomial")
      writer.field("initial", unit)
      writer.field("exponent", exponent)
      if offset != .zero { writer.field("offset", offset) }
      if first != 1 { writer.field("first", first) }
    case .fibonacci(let initial):
      writer.field("strategy", "fibonacci")
      writer.field("initial", initial)
    case .power(let base):
      writer.field("strategy", "power")
      writer.field("initial", base)
    case .doublingsThenLinear(let initial, let doublings):
      writer.field("strategy", "doublingsThenLinear")
      writer.field("initial", initial)
      writer.field("doublings", doublings)
    case .schedule(let waits, let then):
      writer.field("strategy", "schedule")
      writer.key("schedule")
      writer.beginArray()
      for wait in waits { writer.string(DurationText.format(wait)) }
      writer.endArray()
      writer.field("then", Vocabulary.word(of: then, in: BackoffVocabulary.ends))
    case .decorrelated(let base):
      writer.field("strategy", "decorrelated")
      writer.field("initial", base)
    case .decorrelatedSmooth(let median):
      writer.field("strategy", "decorrelatedSmooth")
      writer.field("initial", median)
    }
  }
}

extension Jitter {
  fileprivate func write(to writer: inout JSONWriter) {
    switch self {
    case .none: writer.field("jitter", "none")
    case .full: writer.field("jitter", "full")
    case .equal: writer.field("jitter", "equal")
    case .proportional(let factor):
      writer.field("jitter", "proportional")
      writer.field("factor", factor)
    case .additive(let spread):
      writer.field("jitter", "additive")
      writer.field("spread", spread)
    case .additivePerRetry(let spread):
      writer.field("jitter", "additivePerRetry")
      writer.field("spread", spread)
    }
  }
}

internal import RedialCore
internal import RedialJSON
internal import RedialText

extension Backoff {
  /// Writes the backoff as one object; ``BackoffDraft`` reads it.
  func write(to writer: inout JSONWriter) {
    writer.beginObject()
    curve.write(to: &writer)
    writer.field("max", maximum)
    if !PolicyVocabulary.isRandom(curve) { jitter.write(to: &writer) }
    if cap != .keepingSpread { writer.field("cap", PolicyVocabulary.word(of: cap)) }
    writer.endObject()
  }
}

extension BackoffCurve {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.field("strategy", PolicyVocabulary.strategy(of: self))
    switch self {
    case .constant(let wait):
      writer.field("initial", wait)
    case .linear(let initial, let increment):
      writer.field("initial", initial)
      writer.field("increment", increment)
    case .exponential(let initial, let multiplier):
      writer.field("initial", initial)
      writer.field("multiplier", multiplier)
    case .polynomial(let unit, let exponent, let offset, let first):
      writer.field("initial", unit)
      writer.field("exponent", exponent)
      if offset != .zero { writer.field("offset", offset) }
      if first != 1 { writer.field("first", first) }
    case .fibonacci(let initial):
      writer.field("initial", initial)
    case .power(let base):
      writer.field("initial", base)
    case .doublingsThenLinear(let initial, let doublings):
      writer.field("initial", initial)
      writer.field("doublings", doublings)
    case .schedule(let waits, let then):
      writer.key("schedule")
      writer.beginArray()
      for wait in waits { writer.string(DurationText.format(wait)) }
      writer.endArray()
      writer.field("then", PolicyVocabulary.word(of: then))
    case .decorrelated(let base):
      writer.field("initial", base)
    case .decorrelatedSmooth(let median):
      writer.field("initial", median)
    }
  }
}

extension Jitter {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.field("jitter", PolicyVocabulary.name(of: self))
    switch self {
    case .none, .full, .equal: break
    case .proportional(let factor): writer.field("factor", factor)
    case .additive(let spread), .additivePerRetry(let spread): writer.field("spread", spread)
    }
  }
}

package import RedialJSON

/// An operator's changes to a target.
package struct TargetControls: Sendable, Hashable {
  package var overrides: TargetOverrides
  /// Whether the target is paused: no call to it is started.
  package var isPaused: Bool
  /// Whether an operator holds its breaker open.
  package var isTripped: Bool

  /// Creates controls; by default without changes.
  package init(overrides: TargetOverrides = TargetOverrides(), isPaused: Bool = false, isTripped: Bool = false) {
    self.overrides = overrides
    self.isPaused = isPaused
    self.isTripped = isTripped
  }
}

extension TargetControls: StoredRecord {
  package init() { self.init(overrides: TargetOverrides()) }

  package static func fields<Visitor: FieldVisitor & ~Copyable>(
    _ visitor: inout Visitor, _ record: inout TargetControls
  ) throws(Visitor.Failure) {
    try visitor.visit("overrides", &record.overrides)
    try visitor.visit("paused", &record.isPaused)
    try visitor.visit("tripped", &record.isTripped)
  }
}

/// As clients write and read them.
extension TargetOverrides: FieldValue {
  package static var unset: TargetOverrides { TargetOverrides() }
  package func save(to writer: inout JSONWriter) { write(to: &writer) }

  package static func read(_ reader: inout JSONReader) throws(JSONError) -> TargetOverrides {
    let range = try reader.skipValue()
    do throws(Problem) {
      return try read(reader.raw(range))
    } catch {
      throw JSONError(offset: range.lowerBound, reason: error.detail)
    }
  }
}

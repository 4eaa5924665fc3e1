public import RedialJSON

/// An operator's changes to a target.
public struct TargetControls: Sendable, Hashable {
  public var overrides: TargetOverrides
  /// Whether the target is paused: no call to it is started.
  public var isPaused: Bool
  /// Whether an operator holds its breaker open.
  public var isTripped: Bool

  /// Creates controls; by default without changes.
  public init(overrides: TargetOverrides = TargetOverrides(), isPaused: Bool = false, isTripped: Bool = false) {
    self.overrides = overrides
    self.isPaused = isPaused
    self.isTripped = isTripped
  }
}

extension TargetControls: StoredRecord {
  public init() { self.init(overrides: TargetOverrides()) }

  public static func fields<Visitor: FieldVisitor & ~Copyable>(
    _ visitor: inout Visitor, _ record: inout TargetControls
  ) throws(Visitor.Failure) {
    try visitor.visit("overrides", &record.overrides)
    try visitor.visit("paused", &record.isPaused)
    try visitor.visit("tripped", &record.isTripped)
  }
}

/// As clients write and read them.
extension TargetOverrides: FieldValue {
  public static var unset: TargetOverrides { TargetOverrides() }
  public func save(to writer: inout JSONWriter) { write(hidingSecrets: false, to: &writer) }

  public static func read(_ reader: inout JSONReader) throws(JSONError) -> TargetOverrides {
    let range = try reader.skipValue()
    do throws(Problem) {
      return try read(stored: reader.raw(range))
    } catch {
      throw JSONError(stored: error, offset: range.lowerBound)
    }
  }
}

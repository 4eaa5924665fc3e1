/// A member of a request that can be left out or be null, where each means something else.
///
/// ```swift
/// let change = RedialAPI.TargetPatch(maxInFlight: .value(4), rate: .null)  // all else stays
/// show(change)
/// ```
public enum RedialNullable<Value> {
  /// It is left out: of a patch, what is set stays.
  case absent
  /// It is null: of a patch, what was set is removed.
  case null
  /// It has a value.
  case value(Value)

  /// The value; nil if there is none.
  public var value: Value? { if case .value(let value) = self { value } else { nil } }

  /// The same with another value.
  func map<Other>(_ transform: (Value) throws -> Other) rethrows -> RedialNullable<Other> {
    switch self {
    case .absent: .absent
    case .null: .null
    case .value(let value): .value(try transform(value))
    }
  }
}

extension RedialNullable: Sendable where Value: Sendable {}
extension RedialNullable: Equatable where Value: Equatable {}
extension RedialNullable: Hashable where Value: Hashable {}

extension KeyedEncodingContainer {
  mutating func encodeNullable<Value: Encodable>(_ member: RedialNullable<Value>, forKey key: Key) throws {
    switch member {
    case .absent: break
    case .null: try encodeNil(forKey: key)
    case .value(let value): try encode(value, forKey: key)
    }
  }
}

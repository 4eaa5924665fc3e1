public import RedialCore
public import RedialJSON
internal import RedialText

/// Members with the values that the service's JSON has besides those of all JSON.
extension JSONWriter {
  /// Writes a member with a duration in its canonical form.
  public mutating func field(_ name: StaticString, _ value: Duration) {
    key(name)
    string(duration: value)
  }

  /// Writes a duration in its canonical form.
  mutating func string(duration: Duration) {
    string(DurationText.format(duration))
  }

  /// Writes a member with an instant as RFC 3339 text, or null.
  public mutating func field(_ name: StaticString, _ value: Timestamp?) {
    key(name)
    guard let value else { return null() }
    let parts = TimestampText.Parts(value)
    guard parts.hasUsualYear else { return string(TimestampText.format(value)) }
    plainString(TimestampText.Parts.usualLength) { parts.write(to: $0) }
  }

  /// Writes a member with a call's id.
  public mutating func field(_ name: StaticString, _ value: CallID) {
    key(name)
    plainString(CallID.textLength) { value.write(to: $0) }
  }
}

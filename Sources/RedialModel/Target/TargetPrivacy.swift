/// What a target's own settings hide of its calls. An instance that does not run its calls knows no other of these settings, and
/// applies this to the calls that it accepts for the target.
extension TargetOverrides {
  /// The part of the settings that hides something, or says that nothing is hidden; nil for none.
  public var privacy: TargetOverrides? {
    guard isSensitive != nil || redact != nil else { return nil }
    var part = TargetOverrides()
    (part.isSensitive, part.redact) = (isSensitive, redact)
    return part
  }

  /// The part of a target's settings in a document. One that cannot be read hides everything.
  public init(privacy document: StoredDocument) {
    let stored = try? document.content.withUnsafeBufferPointer { bytes throws(Problem) in try Self.read(stored: bytes) }
    self = stored ?? TargetOverrides()
    if stored == nil { isSensitive = true }
  }
}

extension StoredDocument {
  /// What a target hides of its calls.
  public init(privacy: TargetOverrides, of target: TargetKey) {
    self.init(.targetPrivacy, id: target.text, privacy.json)
  }
}

/// A change of some of a target's settings, which leaves the others: a JSON Merge Patch (RFC 7396) of its overrides.
public struct TargetPatch: Sendable, Hashable {
  private let json: [UInt8]
  private let sets: TargetOverrides

  /// Reads a patch: an object like that of ``TargetOverrides/read(_:)``, in which null removes a member; or null alone, which
  /// removes all.
  ///
  /// - Throws: A problem of status 400 for a text that is not JSON, 422 for everything else, which names each member
  ///   at fault.
  public init(_ bytes: UnsafeBufferPointer<UInt8>) throws(Problem) {
    var sets = TargetOverrides()
    try sets.read(bytes, nullRemoves: true)
    (json, self.sets) = (Array(bytes), sets)
  }

  /// Refuses a file that it names outside the directory for such files; see ``TargetOverrides/checkFiles(in:)``.
  public func checkFiles(in directory: String?) throws(Problem) {
    try sets.checkFiles(in: directory)
  }

  /// Refuses secrets; see ``TargetOverrides/checkSecrets(of:canEncrypt:)``.
  public func checkSecrets(of key: TargetKey, canEncrypt: Bool) throws(Problem) {
    try sets.checkSecrets(of: key, canEncrypt: canEncrypt)
  }

  /// The overrides with this change.
  ///
  /// - Parameter key: The key of the target with the overrides.
  /// - Throws: A problem of status 422 if the result could not be set as a whole.
  public func applied(to overrides: TargetOverrides, of key: TargetKey) throws(Problem) -> TargetOverrides {
    var changed = overrides
    try json.withUnsafeBufferPointer { bytes throws(Problem) in try changed.read(bytes, nullRemoves: true) }
    // A member may need another one that the patch has removed.
    _ = try changed.json.withUnsafeBufferPointer { bytes throws(Problem) in try TargetOverrides.read(bytes) }
    try changed.checkOrigins(of: key)
    return changed
  }
}

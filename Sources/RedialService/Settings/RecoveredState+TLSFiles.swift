internal import RedialModel

extension RecoveredState {
  /// The targets whose TLS settings apply nowhere: they were set for a name before such settings needed origins.
  var targetsWithoutOrigins: [TargetKey] {
    controls.filter { $0.controls.overrides.tls?.origins(of: $0.target).isEmpty == true }.map(\.target)
  }

  /// Removes from targets the files that could not be named for them today: they were set before there was a directory
  /// for such files, or while it was another.
  ///
  /// Pins and the version stay. The store keeps the old settings until somebody changes the target.
  ///
  /// - Parameter directory: The setting `tlsDirectory`; nil if no file may be named.
  /// - Returns: The affected targets, and which of their members are not applied.
  mutating func leaveOutFiles(outside directory: String?) -> [(target: TargetKey, members: [String])] {
    var found: [(target: TargetKey, members: [String])] = []
    for place in controls.indices {
      let target = controls[place].target
      guard var tls = controls[place].controls.overrides.tls else { continue }
      let faults = tls.faults(outside: target.namespace.tlsDirectory(in: directory))
      guard !faults.isEmpty else { continue }
      let members = faults.map(\.pointer)
      if members.contains("/tls/certificate") || members.contains("/tls/key") {
        // One is useless without the other.
        tls.certificate = nil
        tls.key = nil
      }
      if members.contains("/tls/caFile") { tls.caFile = nil }
      controls[place].controls.overrides.tls = tls.setsNothing ? nil : tls
      found.append((target, members))
    }
    return found
  }
}

internal import RedialModel

extension RecoveredState {
  /// The targets whose TLS settings hold nowhere: they were set for a name while such settings needed no origins.
  var targetsWithoutOrigins: [String] {
    controls.filter { $0.controls.overrides.tls?.origins(of: $0.target).isEmpty == true }.map(\.target)
  }

  /// Has no target use files that could not be named for it today: they were set before there was a directory for such
  /// files, or while it was another.
  ///
  /// Pins and the version stay. The store keeps what was set until somebody sets something else for the target.
  ///
  /// - Parameter directory: The setting `tlsDirectory`; nil where no file may be named.
  /// - Returns: The targets that are concerned, and which of their members are not applied.
  mutating func leaveOutFiles(outside directory: String?) -> [(target: String, members: [String])] {
    var found: [(target: String, members: [String])] = []
    for place in controls.indices {
      let target = controls[place].target
      guard var tls = controls[place].controls.overrides.tls else { continue }
      let faults = tls.faults(outside: QualifiedKey.namespace(of: target).tlsDirectory(in: directory))
      guard !faults.isEmpty else { continue }
      let members = faults.map(\.pointer)
      if members.contains("/tls/certificate") || members.contains("/tls/key") {
        // One is of no use without the other.
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

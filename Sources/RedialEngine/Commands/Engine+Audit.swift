package import RedialModel

/// Finds calls that the store shows in an engine's memory, and that no engine has. There should be none: nothing would
/// run such a call before the next start.
///
/// The store is read beside the engine's lane, so a call may have left memory, or may just be arriving. Only one that is
/// missing again later is reclaimed, after all requests to the store before that have been answered.
extension Engine {
  /// Those of some calls that should be in memory, and are not; none while that cannot be said.
  package func missing(among held: [HeldCall]) -> [HeldCall] {
    guard desk.trouble == nil, desk.leases.canWork, !isDraining else { return [] }
    return held.filter { owns($0.target) && calls[$0.id] == nil }
  }
}

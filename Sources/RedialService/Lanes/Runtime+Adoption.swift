internal import RedialModel

/// The settings of targets that a store has kept.
extension Runtime {
  /// Leaves out what does not apply today of the settings of targets, and says so, before the engine takes them.
  func adopt(_ state: inout RecoveredState) {
    for (target, members) in state.leaveOutFiles(outside: tlsDirectory) {
      log.write(
        .warning, "tlsFilesNotApplied",
        Log.fields(of: target) + [
          ("members", members.joined(separator: " ")),
          ("meaning", "they name files outside tlsDirectory; set it, or set the target again"),
        ])
    }
    for target in state.targetsWithoutOrigins {
      log.write(
        .warning, "tlsNotApplied",
        Log.fields(of: target) + [
          ("meaning", "the TLS settings of this target name no origins; set the target again with tls.origins")
        ])
    }
  }
}

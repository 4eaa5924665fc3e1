internal import RedialEngine
internal import RedialModel

/// Who may reach a service.
extension ServiceSettings {
  /// API keys, as a start finds them before it has read those of the store.
  var keyRing: KeyRing { KeyRing(adminKey: adminKey, isRequired: !trustedUserHeader.isEmpty) }

  /// Why the service must not start, nil if it may: without keys, everybody who can reach it may make it send requests. So it
  /// must not be reachable from other machines by mistake.
  func openDoor(_ keys: KeyRing, isLocal: Bool) -> String? {
    guard !isLocal, !keys.isRequired, !allowUnauthenticated else { return nil }
    return "\(listen) can be reached from other machines, and there is no API key, so anybody could "
      + "make this service send requests. Make a key (redial keys create --name admin --scope admin --store \(Redaction.place(store))), or set "
      + "adminKey, or listen on 127.0.0.1. If something in front of it checks access, set allowUnauthenticated."
  }
}

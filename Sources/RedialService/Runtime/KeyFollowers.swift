internal import RedialEngine

/// Who must learn that API keys have changed.
struct KeyFollowers: Sendable {
  let engine: EngineLane
  let events: EventFeed
  let ends: EndTable

  /// Tells the engine the namespaces, and ends the streams and waits of clients that may not go on: their key was revoked,
  /// or one is needed from now on.
  func keysChanged(_ keys: KeyRing) {
    engine.post(.namespaces(keys.namespaces))
    events.dismissTheRefused()
    ends.dismissTheRefused()
  }
}

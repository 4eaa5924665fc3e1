internal import RedialCore

/// The engine's settings, which never change, and what follows from them.
///
/// They take a few hundred bytes and are in an object of their own, because calling a method that does not change the
/// engine may copy everything in it.
final class SharedSettings: Sendable {
  let settings: EngineSettings
  /// ``EngineSettings/longSilence`` in microseconds.
  let leastSilence: Int64

  init(_ settings: EngineSettings) {
    self.settings = settings
    leastSilence = settings.longSilence.wholeMicroseconds
  }
}

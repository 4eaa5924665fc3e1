/// The wait that a target has requested, and how much it was lengthened.
struct AskedWait {
  var wait: Duration
  /// The requested wait, and the factor, if a number was drawn.
  var computed: Duration?
  var jitter: Double?

  /// Draws from `random` only if there is something to spread.
  init(_ asked: Duration, spread: Double, using random: inout some RandomNumberGenerator) {
    wait = asked
    guard spread > 0, asked > .zero else { return }
    let factor = 1 + min(1, spread) * random.unitInterval()
    wait = max(asked, Duration(clampingSeconds: asked.inSeconds * factor))
    computed = asked
    jitter = factor
  }
}

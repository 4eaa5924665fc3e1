internal import Glibc
package import Testing

/// Waits until a condition holds; after a minute it fails with what was seen.
///
/// For tests that block a thread; see `eventually` of RedialTestSupport for tasks.
package func poll(
  _ seen: @autoclosure () -> String = "it does not happen", sourceLocation: SourceLocation = #_sourceLocation,
  until condition: () throws -> Bool
) rethrows {
  let end = ContinuousClock.now + .seconds(60)
  while try !condition() {
    guard ContinuousClock.now < end else {
      Issue.record("for a minute: \(seen())", sourceLocation: sourceLocation)
      return
    }
    usleep(1000)
  }
}

import RedialLegacy
import Synchronization

/// Does nothing for some rounds, then something.
func spin(_ rounds: UInt64, then body: () -> Void) {
  let counter = Atomic<UInt64>(0)
  while counter.add(1, ordering: .relaxed).newValue <= rounds {}
  body()
}

/// Lets threads go on only when all of them have come, so that they race.
final class StartingLine: Sendable {
  private let missing: Atomic<Int>

  init(_ count: Int) { missing = Atomic(count) }

  func wait() {
    missing.subtract(1, ordering: .acquiringAndReleasing)
    // Not forever: when there is one thread only, there is nobody to wait for.
    for _ in 0..<20_000 where missing.load(ordering: .acquiring) > 0 {}
  }
}

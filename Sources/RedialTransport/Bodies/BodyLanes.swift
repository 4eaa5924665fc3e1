internal import Dispatch
internal import Synchronization

/// The threads that read bodies, so that a transport's own thread never waits for a disk. The pieces of one source are
/// read in order, one after the other.
final class BodyLanes: Sendable {
  private let queues: [DispatchQueue]
  private let next = Atomic<Int>(0)

  /// Sources that are read at a time: as many as the store has connections for it.
  private static let count = 2

  init() {
    queues = (0..<Self.count).map { DispatchQueue(label: "redial.bodies.\($0)", qos: .userInitiated) }
  }

  /// A lane for a source.
  func lane() -> DispatchQueue {
    queues[Int(UInt(bitPattern: next.wrappingAdd(1, ordering: .relaxed).oldValue) % UInt(queues.count))]
  }
}

import Dispatch
import RedialCore
import RedialModel
import Synchronization

@testable import RedialTransport

/// A body that is created as it is read, with a fault or a pause where a test needs one.
final class ScriptedSource: BodySource {
  let size: Int
  private let faultAt: Int?
  private let fault: BodyFault
  /// The position at which reading waits until ``release()``.
  private let haltAt: Int?
  private let gate = DispatchSemaphore(value: 0)
  private let state = Mutex(State())

  private struct State {
    var position = 0
    var rewinds = 0
    var given = 0
  }

  init(
    _ size: Int, faultAt: Int? = nil, haltAt: Int? = nil,
    fault: BodyFault = BodyFault(code: "bodyGone", message: "It is gone")
  ) {
    self.size = size
    self.faultAt = faultAt
    self.haltAt = haltAt
    self.fault = fault
  }

  /// Its whole content.
  var whole: [UInt8] { Self.bytes(0..<size) }

  /// How much was read, in all readings.
  var given: Int { state.withLock { $0.given } }
  var rewinds: Int { state.withLock { $0.rewinds } }

  func release() { gate.signal() }

  /// Repeats after a length that no piece has, so that pieces in another order would be noticed.
  private static let pattern = (0..<65_537).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }

  private static func bytes(_ range: Range<Int>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(range.count)
    while bytes.count < range.count {
      let start = (range.lowerBound + bytes.count) % pattern.count
      bytes += pattern[start..<min(pattern.count, start + range.count - bytes.count)]
    }
    return bytes
  }

  func next(atMost count: Int) throws(BodyFault) -> [UInt8] {
    let position = state.withLock { $0.position }
    if let haltAt, (position..<(position + count)).contains(haltAt) { gate.wait() }
    if let faultAt, position + count > faultAt { throw fault }
    return state.withLock { state in
      let end = min(state.position + count, size)
      defer {
        state.given += end - state.position
        state.position = end
      }
      return Self.bytes(state.position..<end)
    }
  }

  func rewind() {
    state.withLock {
      $0.position = 0
      $0.rewinds += 1
    }
  }
}

extension TransportProbe {
  /// Performs one request whose body comes from a source.
  func perform(
    _ url: String, method: String = "POST", from source: ScriptedSource, timeout: Duration = forever,
    maxRedirects: Int = 0
  ) -> AttemptResult? {
    perform(
      TransportRequest(
        id: 1, url: url, method: method, source: source, timeout: timeout, captureLimit: 4096,
        maxRedirects: maxRedirects))
  }
}

@testable import RedialEngine
@testable import RedialModel
import Testing

/// What the simulation believes, the engine itself checks, also in release: it stops rather than go on with a wrong count. The
/// store has all that was accepted, so a stop loses nothing.
@Suite("The engine stops")
struct InvariantTests {
  @Test("before an attempt ends that has not begun")
  func attempts() async {
    await #expect(processExitsWith: .failure) {
      var occupancy = Occupancy()
      occupancy.stop(0)
    }
  }

  @Test("before a call has two attempts in flight")
  func twoAttempts() async {
    await #expect(processExitsWith: .failure) {
      var probe = EngineProbe()
      let id = probe.submit()
      guard let place = probe.engine.calls.place(of: id) else { return }
      let phase = probe.engine.calls[at: place].phase
      probe.engine.calls.enter(phase, at: place)
    }
  }

  @Test("before a job of the store has two outcomes")
  func outcomes() async {
    await #expect(processExitsWith: .failure) {
      var pipeline = StorePipeline()
      pipeline.post([StoreRequest(.barrier, epoch: 0)])
      guard case .submit = pipeline.next() else { return }
      pipeline.heard(.made(.done))
      pipeline.heard(.made(.done))
    }
  }
}

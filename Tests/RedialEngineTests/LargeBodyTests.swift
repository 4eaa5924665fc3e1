@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("Large bodies")
struct LargeBodyTests {
  private var settings: EngineSettings {
    var settings = EngineSettings()
    settings.streamBodiesAbove = 100
    settings.maxHeldBytes = 4000
    settings.target.maxInFlight = 1
    return settings
  }

  private func submit(_ size: Int, to target: TargetKey = EngineProbe.target, in probe: inout EngineProbe) -> CallID {
    let reply = probe.token(for: SubmissionReply.self)
    let spec = CallSpec.test(to: target)
    probe.hear(
      .submit(
        CallDescriptor(spec: spec, body: [UInt8](repeating: 7, count: size), start: .after(.zero)), reply))
    probe.commit()
    guard case .accepted(let record) = probe.reply(to: reply) else { return CallID(rawValue: 0) }
    return record.id
  }

  @Test("they are stored whole and sent from the store, while small ones stay in memory")
  func started() {
    var probe = EngineProbe(settings)
    let large = submit(101, in: &probe)
    let small = submit(100, to: "http://other.example", in: &probe)
    #expect(probe.record(large)?.content == .held([UInt8](repeating: 7, count: 101)))
    #expect(probe.starts.first { $0.call.id == large }?.call.content == .stored(size: 101))
    #expect(probe.starts.first { $0.call.id == small }?.call.content == .held([UInt8](repeating: 7, count: 100)))
    // Also those that wait, and those that run again.
    let waiting = submit(500, in: &probe)
    #expect(probe.record(waiting)?.content.heldSize == 500)
    probe.end(large, status: 503)
    #expect(probe.starts.last?.call.content == .stored(size: 500))
    probe.end(waiting, status: 200)
    probe.advance(.seconds(2))
    #expect(probe.starts(of: large) == 2)
    #expect(probe.starts.last?.call.content == .stored(size: 101))
  }

  @Test("they take nothing of the memory that bodies may have, so that they wait there for their target")
  func uncounted() {
    var probe = EngineProbe(settings)
    let ids = (0..<20).map { _ in submit(3000, in: &probe) }
    #expect(probe.engine.roster.occupancy.heldBytes == 0 && probe.engine.roster.occupancy.runningBytes == 0)
    #expect(ids.dropFirst().allSatisfy { probe.state($0) == .held })
    // The same as small ones do not: what does not fit goes to the store.
    var other = settings
    other.streamBodiesAbove = 3000
    var held = EngineProbe(other)
    let same = (0..<20).map { _ in submit(3000, in: &held) }
    #expect(held.engine.roster.occupancy.runningBytes == 3000)
    #expect(same.dropFirst().contains { held.state($0) == .queued })
  }

  @Test("a webhook's body stays, however large, for it is signed as a whole")
  func webhook() {
    var settings = settings
    settings.streamBodiesAbove = 0
    var probe = EngineProbe(settings)
    probe.end(probe.submit(callback: true), status: 200)
    let sent = probe.starts.last { $0.call.kind == .webhook }
    #expect(sent?.call.content.heldSize == probe.webhooks.first?.body.count)
    #expect((sent?.call.body.count ?? 0) > 100)
  }

  @Test("one that could not be written is refused, and nothing of it counts on")
  func refused() {
    var probe = EngineProbe(settings)
    let reply = probe.token(for: SubmissionReply.self)
    probe.hear(
      .submit(
        CallDescriptor(spec: .test(), body: [UInt8](repeating: 1, count: 2000), start: .after(.zero)), reply))
    probe.fail()
    #expect(probe.refusal(of: reply)?.status == 503)
    #expect(
      probe.engine.roster.occupancy.heldBytes == 0 && probe.engine.roster.occupancy.runningBytes == 0
        && probe.starts.isEmpty)
  }
}

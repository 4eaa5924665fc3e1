@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("Callers that share a target, and targets that share an origin")
struct CallerTests {
  private static let patient = {
    var policy = RetryPolicy.test
    policy.deadline = .seconds(3600)
    policy.attemptTimeout = .seconds(30)
    return policy
  }()

  /// Calls of one caller, and of another.
  private enum Mark: CaseIterable {
    case path, credential, label

    func spec(_ caller: String, _ number: Int = 0, to target: TargetKey = EngineProbe.target) -> CallSpec {
      let (policy, all) = (CallerTests.patient, "\(target.bare)/all")
      return switch self {
      case .path: .test(policy, to: target, url: "\(target.bare)/\(caller)/\(number)")
      case .credential: .test(policy, to: target, url: all, headers: [HeaderField("authorization", caller)])
      case .label: .test(policy, to: target, url: all, labels: [CallSpec.Label(name: "tenant", value: caller)])
      }
    }
  }

  /// A call that is answered at once, so that the target works.
  private func answer(_ spec: CallSpec, _ probe: inout EngineProbe, status: Int = 200) -> Bool {
    let id = probe.submit(spec)
    guard probe.starts(of: id) == 1 else { return false }
    probe.advance(.milliseconds(5))
    probe.end(id, status: status, took: .milliseconds(5))
    return true
  }

  @Test(
    "a caller whose answers hang gets no more slots than are free while others are answered", arguments: Mark.allCases)
  private func hanging(_ mark: Mark) {
    var probe = EngineProbe()
    var hanging: [CallID] = []
    for number in 0..<100 {
      hanging.append(probe.submit(mark.spec("hangs", number)))
      #expect(answer(mark.spec("works", number), &probe), "call \(number)")
    }
    // The first sixteen are not counted.
    let inFlight = hanging.count { probe.starts(of: $0) == 1 }
    #expect((32...40).contains(inFlight), "\(inFlight)")
    #expect(probe.wait(of: hanging[99])?.reason == .concurrency)
    // Each that ends makes room for the next, in order.
    probe.end(hanging[0], .maybeSent, code: AttemptFailure.timeout, took: .seconds(30))
    #expect(hanging.prefix(inFlight + 1).allSatisfy { probe.starts(of: $0) == 1 })
    #expect(probe.starts(of: hanging[inFlight + 1]) == 0)
    // With an answer it may have all.
    probe.end(hanging[1], status: 200)
    #expect(hanging.count { probe.starts(of: $0) == 1 } == 64 + 2)
  }

  @Test("ten callers whose answers hang leave the others their slots")
  func tenCallers() {
    var probe = EngineProbe()
    for number in 0..<100 {
      for caller in 0..<10 { probe.submit(Mark.label.spec("hangs \(caller)", number)) }
      #expect(answer(Mark.label.spec("works", number), &probe) || number < 7, "call \(number)")
    }
  }

  @Test("a target that answers nobody, or a caller alone, may have all slots but the last")
  func alone() {
    var probe = EngineProbe()
    for number in 0..<50 {
      probe.submit(Mark.label.spec("a", number))
      probe.submit(Mark.label.spec("b", number))
      probe.advance(.milliseconds(5))
    }
    #expect(probe.starts.count == 63)
    probe = EngineProbe()
    for number in 0..<100 { probe.submit(Mark.label.spec("slow", number)) }
    #expect(probe.starts.count == 63)
  }

  @Test("a burst whose answers hang, and that nobody came before, leaves others a slot", arguments: Mark.allCases)
  private func burst(_ mark: Mark) {
    var probe = EngineProbe()
    for number in 0..<100 { probe.submit(mark.spec("hangs", number)) }
    probe.advance(.seconds(5))
    for number in 0..<10 { #expect(answer(mark.spec("works", number), &probe), "call \(number)") }
  }

  @Test("a refusal of one attempt gives its caller that hangs no more slots")
  func refusal() {
    var probe = EngineProbe()
    let hanging = (0..<60).map { probe.submit(Mark.path.spec("hangs", $0)) }
    #expect(answer(Mark.path.spec("works"), &probe))
    probe.end(hanging[50], .notSent, code: "requestRefused", took: .milliseconds(500), phase: .request)
    for number in 60..<80 { probe.submit(Mark.path.spec("hangs", number)) }
    probe.advance(.seconds(5))
    for number in 0..<5 { #expect(answer(Mark.path.spec("works", number), &probe), "call \(number)") }
  }

  @Test("beside many targets with one caller that hangs, the other callers of each go on", arguments: Mark.allCases)
  private func manyTargets(_ mark: Mark) {
    var probe = EngineProbe()
    func spec(_ caller: String, _ target: Int, _ number: Int) -> CallSpec {
      mark.spec(caller, number, to: TargetKey("http://shared\(target).example"))
    }
    let targets = 0..<40
    for target in targets { #expect(answer(spec("works", target, 0), &probe)) }
    for target in targets { for number in 0..<100 { probe.submit(spec("hangs", target, number)) } }
    probe.advance(.seconds(2))
    for number in 1..<20 {
      for target in targets { #expect(answer(spec("works", target, number), &probe), "\(target), \(number)") }
    }
    // Those that hang have half of the slots at most, which the others have earned.
    let inFlight = targets.map { target in
      let place = probe.engine.roster.place(of: TargetKey("http://shared\(target).example"))
      return place.map { probe.engine.roster.targets[$0].occupancy.inFlight } ?? 0
    }
    // The first few began before slots were scarce.
    #expect(inFlight.count { $0 > 40 } <= 8, "\(inFlight)")
  }

  @Test("callers that all hang take one slot in two seconds beside those that a target gets, while the pool has some")
  func allHang() {
    var probe = EngineProbe(EngineSettings(maxInFlight: 128))
    func inFlight() -> Int { probe.engine.roster.occupancy.inFlight }
    for number in 0..<40 { probe.submit(Mark.label.spec("\(number)", number)) }
    let atOnce = inFlight()
    #expect((2...8).contains(atOnce))
    for step in 1...5 {
      probe.advance(.seconds(2))
      #expect((step - 1...step + 1).contains(inFlight() - atOnce), "\(step)")
    }
    // Of one caller none may.
    probe = EngineProbe(EngineSettings(maxInFlight: 128))
    for number in 0..<40 { probe.submit(Mark.label.spec("one", number)) }
    probe.advance(.seconds(20))
    #expect(inFlight() == atOnce)
  }

  @Test("calls that were passed over keep their deadlines, can be cancelled, and go when the others are done")
  func passedOver() {
    var probe = EngineProbe()
    var hanging: [CallID] = []
    for number in 0..<60 {
      hanging.append(probe.submit(Mark.path.spec("hangs", number)))
      #expect(answer(Mark.path.spec("works", number), &probe))
    }
    let waiting = hanging.filter { probe.starts(of: $0) == 0 }
    probe.command(.cancel, waiting[0])
    #expect(probe.state(waiting[0]) == .cancelled)
    for id in hanging where probe.starts(of: id) == 1 {
      probe.end(id, .maybeSent, code: AttemptFailure.timeout, took: .seconds(30))
    }
    #expect(waiting.dropFirst().allSatisfy { probe.starts(of: $0) == 1 })
    probe.advance(.seconds(3600))
    let index = probe.engine.roster.place(of: EngineProbe.target)
    #expect(index.map { probe.engine.roster.targets[$0].occupancy.ready } == 0)
  }

  // MARK: Origins

  private func spec(of customer: Int, at origin: String = "http://host.example") -> CallSpec {
    .test(Self.patient, to: TargetKey("customer \(customer)"), url: "\(origin)/hooks/\(customer)")
  }

  @Test("sixty targets that hang at one origin leave connections to one that works")
  func origin() {
    var probe = EngineProbe()
    var hanging: [CallID] = []
    for number in 0..<20 {
      for customer in 1...60 { hanging.append(probe.submit(spec(of: customer))) }
      #expect(answer(spec(of: 0), &probe), "call \(number)")
    }
    let inFlight = hanging.count { probe.starts(of: $0) > 0 }
    #expect((150...192).contains(inFlight), "\(inFlight)")
    #expect(hanging.last.flatMap { probe.wait(of: $0)?.reason } == .connections)
    // Another origin is not concerned.
    #expect(answer(spec(of: 61, at: "http://other.example"), &probe))
    // When some end, others begin.
    for id in hanging.prefix(50) { probe.end(id, .maybeSent, code: AttemptFailure.timeout, took: .seconds(30)) }
    #expect(hanging.count { probe.starts(of: $0) > 0 } >= inFlight + 40)
  }

  @Test("targets of one origin have no more connections than the limit, and all get theirs in the end")
  func limit() {
    var settings = EngineSettings()
    settings.maxConnectionsPerOrigin = 3
    var probe = EngineProbe(settings)
    var ids = (0..<12).map { probe.submit(spec(of: $0)) }
    var most = 0
    while !ids.isEmpty {
      let running = ids.filter { probe.starts(of: $0) == 1 }
      most = max(most, running.count)
      guard let first = running.first else { break }
      probe.end(first, status: 200, took: .milliseconds(5))
      ids.removeAll { $0 == first }
    }
    #expect(ids.isEmpty && most == 3)
    #expect(
      probe.notices.contains {
        if case .targetStands("customer 11", let new) = $0 { new.lacksConnection } else { false }
      })
    let last = probe.ask { $0.describe("customer 11") } ?? nil
    #expect(last?.waiting == 0)
  }

  @Test("HTTP/2 has no limit of connections")
  func multiplexed() {
    var settings = EngineSettings()
    settings.maxConnectionsPerOrigin = 3
    var probe = EngineProbe(settings)
    let ids = (0..<12).map { probe.submit(spec(of: $0)) }
    #expect(probe.starts.count == 3)
    var result = AttemptResult(outcome: .answered, status: 200, duration: .milliseconds(5))
    result.figures = ExchangeFigures(phase: .response)
    result.figures?.version = .http2
    probe.hear(.attemptEnded(ids[0], number: 1, result))
    probe.commit()
    #expect(probe.starts.count == 12)
  }
}

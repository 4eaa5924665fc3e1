import Dispatch
import Glibc
import RedialCore
@testable import RedialEngine
import RedialModel
import RedialTransport
import Synchronization
import Testing

@testable import RedialService

@Suite("The lane of attempts")
struct AttemptLaneTests {
  /// What the lane has reported, and on which threads.
  private final class Reports: Sendable {
    private let all = Mutex<(events: [EngineEvent], threads: Set<UInt>)>(([], []))
    private let arrivals = DispatchSemaphore(value: 0)

    func add(_ ended: AttemptLane.Ended) {
      all.withLock { all in
        all.events += ended.events
        all.threads.insert(UInt(pthread_self()))
      }
      for _ in ended.events { arrivals.signal() }
    }

    /// Waits for that many events, each as a text.
    func wait(for count: Int) -> (events: Set<String>, threads: Set<UInt>) {
      for _ in 0..<count where arrivals.wait(timeout: .now() + .seconds(60)) == .timedOut { break }
      let (events, threads) = all.withLock { $0 }
      return (Set(events.map(Self.text)), threads)
    }

    private static func text(_ event: EngineEvent) -> String {
      switch event {
      case .attemptTooLate(let id, let number): "\(id.rawValue) \(number) too late"
      case .attemptEnded(let id, let number, let result):
        "\(id.rawValue) \(number) \(result.failure?.code ?? "\(result.outcome)")"
      default: "another event"
      }
    }
  }

  private func start(_ id: Int64, number: Int, _ kind: CallKind = .call, target: TargetKey = "t") -> Action {
    let now = Timestamp(microseconds: 1_790_000_000_000_000)
    let start = AttemptStart(
      call: CallRecord(
        id: CallID(rawValue: id), kind: kind,
        spec: CallSpec(
          url: "http://127.0.0.1:1/", method: "POST", headers: [], target: target, policy: .service,
          captureLimit: 0),
        body: Array("{}".utf8), createdAt: now,
        progress: CallProgress(state: .running, due: now, roundStartedAt: now)),
      number: number, timeout: .seconds(10), startBefore: number == 7 ? now : .distantFuture)
    return .start(start)
  }

  private func lane(_ reports: Reports) throws -> AttemptLane {
    var configuration = TransportConfiguration(userAgent: "redial/test")
    configuration.egress = EgressPolicy(reachesLoopback: true)
    let endpoints = WebhookEndpoints(limit: 1, disableAfter: .seconds(1))
    return try AttemptLane(
      configuration,
      headers: AttemptHeaders(secret: WebhookSecret(WebhookTests.text), endpoints: endpoints),
      credentials: AttemptCredentials(NamedCredentials(), log: Log(format: .text, level: .error)), endpoints: endpoints,
      bodies: BodyReading(nil), redaction: Redaction(), clock: Clock(), tracer: nil
    ) { reports.add($0) }
  }

  private var deletedEndpoint: TargetKey {
    "\(WebhookSubscription.targetPrefix)\(WebhookSubscription.idPrefix)0000000000001"
  }

  @Test("attempts are made on the transport's thread; those that must not be made are reported from there")
  func makes() throws {
    let reports = Reports()
    let lane = try lane(reports)
    defer { lane.shutdown() }
    let actions = [
      .drained, start(1, number: 7), start(2, number: 2, .webhook, target: deletedEndpoint), start(3, number: 4),
    ]
    lane.start(actions[...])
    let (events, threads) = reports.wait(for: 3)
    #expect(events == ["1 7 too late", "2 2 webhookEndpointGone", "3 4 connectionRefused"])
    #expect(threads.count == 1 && !threads.contains(UInt(pthread_self())))
    #expect(lane.inFlight == 0)
  }

  @Test("only the attempts of the slice are made")
  func makesSlice() throws {
    let reports = Reports()
    let lane = try lane(reports)
    defer { lane.shutdown() }
    let actions = (1...4).map { start($0, number: 1) }
    lane.start(actions[1..<3])
    lane.start(actions[3...])
    #expect(reports.wait(for: 3).events == ["2 1 connectionRefused", "3 1 connectionRefused", "4 1 connectionRefused"])
  }

  @Test("after the end every attempt still has a result")
  func ends() throws {
    let reports = Reports()
    let lane = try lane(reports)
    lane.shutdown()
    lane.start([start(1, number: 7), start(2, number: 1)][...])
    #expect(reports.wait(for: 2).events == ["1 7 too late", "2 1 cancelled"])
    #expect(lane.inFlight == 0)
  }
}

import RedialCore
import RedialModel
import Testing

@testable import RedialService

@Suite("The event log")
struct EventLogTests {
  private static func event(_ bytes: Int = 10) -> StreamedEvent {
    StreamedEvent(type: .targetOpened, target: "t", call: nil, labels: [], data: [UInt8](repeating: 0, count: bytes))
  }

  @Test("numbers continue when the oldest events are removed, because of their number or size")
  func bounds() {
    var log = EventLog(maxCount: 3, maxBytes: 100)
    for _ in 0..<5000 { log.append(Self.event()) }
    #expect((log.first, log.next, log.count) == (4998, 5001, 3))
    log.append(Self.event(95))
    #expect((log.first, log.next) == (5001, 5002))
    log.append(Self.event(1000))
    #expect(log.count == 1)
    #expect(log[5002].data.count == 1000)
  }

  @Test("an interruption leaves a gap in the numbers, so that nobody resumes across it")
  func interruption() {
    var log = EventLog(maxCount: 3, maxBytes: 100)
    log.append(Self.event())
    let heard = log.next - 1
    log.interrupt()
    #expect(heard + 1 < log.first)
    #expect(log.count == 0)
  }

  @Test("an event's id is read back, and nothing else is")
  func ids() {
    let id = EventID(epoch: 0x64b5_c0ff_ee12_3, number: 17)
    #expect(EventID(id.text) == id)
    for text in ["", "-", "1", "1-", "-1", "x-1", "1-x", "1-1-1", "1--1"] { #expect(EventID(text) == nil) }
  }
}

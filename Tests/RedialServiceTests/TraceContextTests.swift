import RedialModel
import Testing

@testable import RedialService

@Suite("The trace of a call")
struct TraceContextTests {
  private let call = CallID(rawValue: 1_234_567)
  private let given = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

  @Test("the client's trace continues, with a new span for each attempt")
  func goesOn() {
    let fields = (1...50).map { TraceContext.field(of: call, attempt: $0, given: given) }
    #expect(fields.allSatisfy { $0.hasPrefix("00-4bf92f3577b34da6a3ce929d0e0e4736-") && $0.hasSuffix("-01") })
    #expect(Set(fields).count == 50)
    #expect(!fields.contains(given) && fields.allSatisfy { $0.utf8.count == 55 })
  }

  @Test(
    "an invalid trace is not passed on",
    arguments: [
      nil, "", "00-0-0-01", "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
      "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
    ])
  func own(_ given: String?) {
    let (first, second) = (1, 2)
    let field = TraceContext.field(of: call, attempt: first, given: given)
    let trace = field.dropFirst(3).prefix(32)
    #expect(!trace.contains("4bf92f") && !trace.contains("4BF92F") && trace != String(repeating: "0", count: 32)[...])
    #expect(field.utf8.count == 55 && field.hasSuffix("-00"))
    // The same trace for the call's other attempts, and another for other calls.
    #expect(TraceContext.field(of: call, attempt: second, given: given).dropFirst(3).prefix(32) == trace)
    #expect(
      TraceContext.field(of: CallID(rawValue: 1_234_568), attempt: first, given: given).dropFirst(3).prefix(32) != trace
    )
  }
}

import Testing

@testable import redial

@Suite("lines on a screen")
struct StyledLineTests {
  @Test("a line is broken at spaces, and what follows is set in as it is")
  func wraps() {
    var line = StyledLine("Redial keeps ", indent: 2)
    line.add("the calls", .bad)
    line.add(".")
    #expect(line.wrapped(to: 80).map(\.text) == ["  Redial keeps the calls."])
    #expect(line.wrapped(to: 15).map(\.text) == ["  Redial keeps ", "  the calls."])
    #expect(line.wrapped(to: 9).map { $0.text.trimmed } == ["  Redial", "  keeps", "  the", "  calls."])
    #expect(line.wrapped(to: 15)[1].parts.first?.style == .bad)
  }

  @Test("a word longer than a line is cut, and nothing is lost", arguments: 1...30)
  func cuts(width: Int) {
    let text = "a https://api.example.com/v1/charges is down"
    let lines = StyledLine(text).wrapped(to: width)
    for line in lines { #expect(line.text.count <= width, "\(line.text)") }
    #expect(lines.map(\.text).joined().filter { $0 != " " } == text.filter { $0 != " " })
  }

  @Test("an empty line stays a line")
  func empty() {
    #expect(StyledLine("").wrapped(to: 10).map(\.text) == [""])
  }
}

extension String {
  /// Without spaces at its end.
  fileprivate var trimmed: String {
    var text = self
    while text.last == " " { text.removeLast() }
    return text
  }
}

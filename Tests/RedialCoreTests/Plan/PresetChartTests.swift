import Foundation
import RedialCore
import Testing

/// The picture of the presets in docs/library.md, drawn from the code.
@Suite("Presets have a picture of their attempts")
struct PresetChartTests {
  private static let presets: [(name: String, policy: RetryPolicy)] = [
    ("RetryPolicy()", RetryPolicy()), (".http", .http), (".service", .service), (".alley", .alley),
    (".exponentialBackOff", .exponentialBackOff), (".fe9lix", .fe9lix), (".happn", .happn), (".aws", .aws),
    (".gRPC()", .gRPC()), (".googleHTTPClient", .googleHTTPClient), (".polly", .polly),
    (".pollyJittered", .pollyJittered), (".resilience4j", .resilience4j), (".failsafe", .failsafe),
    (".curl(retries: 5)", .curl(retries: 5)), (".urllib3(…)", .urllib3(retries: 5, factor: 0.5)),
    (".temporal", .temporal), (".restate", .restate), (".svix", .svix), (".cloudTasks", .cloudTasks),
    (".sidekiq", .sidekiq), (".faktory", .faktory), (".river", .river), (".qstash", .qstash),
    (".outpost", .outpost), (".convoy", .convoy), (".convoyExponential", .convoyExponential), (".sns", .sns),
    (".eventGrid", .eventGrid),
  ]

  private static let ticks: [(name: String, seconds: Double)] = [
    ("0.1s", 0.1), ("1s", 1), ("10s", 10), ("1m", 60), ("10m", 600), ("1h", 3600), ("6h", 21_600), ("1d", 86_400),
    ("7d", 604_800), ("30d", 2_592_000),
  ]
  private static let labelWidth = 22
  private static let width = 66

  /// The column of a time on a logarithmic axis from a tenth of a second on; what comes at once is in the first.
  private static func column(_ seconds: Double) -> Int {
    guard seconds > 0.05 else { return 0 }
    let share = (log10(max(seconds, 0.1)) + 1) / (log10(2_592_000) + 1)
    return 3 + min(width - 4, Int((share * Double(width - 4)).rounded()))
  }

  private static func line(_ label: String, _ marks: [(column: Int, text: String)], _ count: String) -> String {
    var cells = [Character](repeating: " ", count: width + 6)
    for (column, text) in marks {
      for (offset, character) in text.enumerated() { cells[column + offset] = character }
    }
    let head = label.padding(toLength: labelWidth, withPad: " ", startingAt: 0)
    let line = head + count.padding(toLength: 6, withPad: " ", startingAt: 0) + String(cells)
    return String(line.reversed().drop { $0 == " " }.reversed())
  }

  /// The chart, line by line.
  private static func chart() -> [String] {
    var lines = [line("preset", [(0, "0")] + ticks.map { (column($0.seconds), $0.name) }, "tries")]
    for (name, policy) in presets {
      let plan = policy.plan(limit: 300)
      let starts = plan.attempts.filter { $0.chance >= 0.5 }.map(\.start.median.inSeconds).filter { $0 <= 2_592_000 }
      let isEndless = policy.maxAttempts == RetryPolicy.unlimited && policy.deadline == .longest
      var marks = starts.map { (column: column($0), text: "●") }
      // It goes on like that.
      if isEndless, let last = marks.last { marks += (last.column..<width).map { ($0, "●") } + [(width, "→")] }
      lines.append(line(name, marks, isEndless ? "∞" : "\(plan.attempts.count { $0.chance >= 0.5 })"))
    }
    return lines
  }

  @Test("docs/library.md has the picture that the presets give")
  func picture() throws {
    let page = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../docs/library.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    let chart = Self.chart().joined(separator: "\n")
    #expect(text.contains("```text\n\(chart)\n```"), "docs/library.md should have this:\n\(chart)")
  }
}

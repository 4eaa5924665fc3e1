import Foundation
import RedialCore
import Testing

@Suite("The README's example of the library")
struct ReadmeTests {
  @Test("compiles, and decides as it says")
  func example() throws {
    let policy = RetryPolicy(maxAttempts: 5)
    var random = RandomSource(seed: 7)
    let now = Timestamp(microseconds: 1_790_000_000_000_000)
    let end = AttemptEnd(outcome: .answered, status: 503, retryAfter: nil, attempts: 1, startedAt: now)
    let decision = policy.decide(end, at: now, using: &random)  // retry, after what wait, and by which rule

    guard case .retry(let wait) = decision.action else {
      Issue.record("no retry: \(decision)")
      return
    }
    #expect(wait > .zero && decision.rule == .retryableStatus)

    // The lines above are those of the README.
    let source = try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8)
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let readme = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
    let block = try #require(
      readme.components(separatedBy: "```swift\n").dropFirst().first?.components(separatedBy: "```").first)
    for line in block.split(separator: "\n") { #expect(source.contains(line), "the test lacks: \(line)") }
  }
}

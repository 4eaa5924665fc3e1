import Foundation
import RedialCore
import RedialModel
import Testing

@Suite("Plans")
struct PlanTests {
  @Test("the chart of a plan has a row for each attempt, up to twenty, and is XML")
  func chart() {
    let chart = RetryPolicy(maxAttempts: 30).plan().chart
    #expect(chart.components(separatedBy: "class=\"spread\"").count - 1 >= 20)
    #expect(RetryPolicy(maxAttempts: 1).plan().chart.contains(">1<"))
    #expect(chart.hasPrefix("<svg ") && chart.hasSuffix("</svg>\n"))
    #expect(!chart.contains("nan") && !chart.contains("inf"))
  }
}

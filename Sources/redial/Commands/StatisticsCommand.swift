extension Command {
  /// `redial statistics`
  static let statistics = Command(
    name: "statistics", summary: "Show how calls ended in the last 15 minutes, 24 hours and 7 days.",
    options: [asJSON] + APIClient.options
  ) { arguments throws(CommandError) in
    arguments.show(try APIClient(arguments).request("GET", "/v1/statistics")) { answer in
      var table = Table(
        "last", "backlog", "succeeded", "retried", "failed", "cancelled", "success", "p50", "p95", "p99", "attempts",
        "attempt p50",
        "attempt p95")
      for window in answer["data"].elements {
        let (calls, attempts, latency) = (window["calls"], window["attempts"], window["latency"])
        let times = calls["timeToSuccess"]
        let made = (attempts["succeeded"].integer ?? 0) + (attempts["failed"].integer ?? 0)
        table.add(
          Table.Cell(window["window"].escapedText),
          .number(window["backlog"].number.map { Int($0.rounded()) }), .number(calls["succeeded"].integer),
          .number(calls["retried"].integer), .number(calls["failed"].integer), .number(calls["cancelled"].integer),
          Table.Cell(calls["successRate"].number.map { Percent.text($0) } ?? "-"),
          Table.Cell(times["p50"].escapedText ?? "-"), Table.Cell(times["p95"].escapedText ?? "-"),
          Table.Cell(times["p99"].escapedText ?? "-"), .number(made), Table.Cell(latency["p50"].escapedText ?? "-"),
          Table.Cell(latency["p95"].escapedText ?? "-"))
      }
      return table.text(none: "")
    }
    return .success
  }
}

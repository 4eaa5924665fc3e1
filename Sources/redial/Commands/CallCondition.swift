/// A condition by which commands select calls: an option, and a member of the same form in a query and in a filter.
struct CallCondition {
  let option: Command.Option
  /// The name in the API.
  let name: StaticString

  /// All of them, but labels, of which a query can have only one.
  static let all: [CallCondition] = [
    CallCondition(
      "state",
      Command.Option(
        name: "--state", form: "STATE",
        summary: "Only scheduled, running, succeeded, failed or cancelled ones; or several, as failed,cancelled.",
        values: .callState)),
    CallCondition(
      "target", Command.Option(name: "--target", form: "KEY", summary: "Only those of this target.", values: .target)),
    CallCondition(
      "createdAfter",
      Command.Option(name: "--created-after", form: "TIME", summary: "Only those accepted then or later.")),
    CallCondition(
      "createdBefore", Command.Option(name: "--created-before", form: "TIME", summary: "Only those accepted earlier.")),
    CallCondition(
      "olderThan",
      Command.Option(
        name: "--older-than", form: "DURATION", summary: "Only those accepted at least so long ago, such as 15m.")),
    CallCondition(
      "attempts",
      Command.Option(name: "--attempts", form: "COUNT", summary: "Only those with at least so many attempts.")),
    CallCondition(
      "waitingOn",
      Command.Option(
        name: "--waiting-on", form: "REASON", summary: "Only those that wait for this, such as breaker.",
        values: .waitReason)),
    CallCondition(
      "nextAttemptBefore",
      Command.Option(
        name: "--next-attempt-before", form: "TIME",
        summary: "Only those that wait and may run before then, or within a time such as 10m.")),
    CallCondition(
      "status",
      Command.Option(
        name: "--status", form: "STATUS", summary: "Only those whose last answer was this, or such as 500-599.")),
    CallCondition(
      "outcome",
      Command.Option(
        name: "--outcome", form: "OUTCOME", summary: "Only those whose last attempt had this outcome.",
        values: .outcome)),
    CallCondition(
      "failureReason",
      Command.Option(
        name: "--failure-reason", form: "REASON", summary: "Only those that failed for this reason.",
        values: .failureReason)),
    CallCondition(
      "issue",
      Command.Option(
        name: "--issue", form: "ID", summary: "Only the failed ones of this issue; `redial issues` shows ids.",
        values: .issue)),
    CallCondition(
      "url", Command.Option(name: "--in-url", form: "TEXT", summary: "Only those whose URL contains this.")),
    CallCondition(
      "kind", Command.Option(name: "--kind", form: "KIND", summary: "call or webhook [call].", values: .callKind)),
  ]

  private init(_ name: StaticString, _ option: Command.Option) {
    (self.name, self.option) = (name, option)
  }
}

import RedialModel

extension Command {
  /// `redial batch`
  static let batch = Command(
    name: "batch", summary: "Submit many calls, a descriptor a line.", operands: "[FILE]", operandCount: 0...1,
    options: [
      Option(name: "--size", form: "COUNT", summary: "Descriptors a request, from 1 to 1000 [500]."),
      Option(
        name: "--idempotency-key", form: "KEY",
        summary: "The same file again under the same key submits nothing twice, for a day."),
      Option(name: "--json", summary: "Show the service's answers, a line a call."),
    ] + APIClient.options,
    notes: """
      Without FILE it reads standard input. Shows the id of each call that is accepted; what is wrong with a line is told on
      standard error, and the others are taken: then it exits with 1.
      """
  ) { arguments throws(CommandError) in
    try BatchCommand(arguments).run()
  }
}

/// Submits descriptors, many a request.
struct BatchCommand {
  private static let largestSize = 1000

  private let arguments: Arguments
  private let client: APIClient
  private let size: Int

  init(_ arguments: Arguments) throws(CommandError) {
    self.arguments = arguments
    size = try arguments.number("--size", in: 1...Self.largestSize) ?? 500
    client = APIClient(arguments)
  }

  func run() throws(CommandError) -> ExitCode {
    var reader = try LineReader(arguments.operands.first)
    var progress = ProgressLine()
    var lines: [[UInt8]] = []
    var (number, accepted, refused) = (0, 0, 0)
    var numbers: [Int] = []
    var failure: CommandError?
    func submit() {
      guard !lines.isEmpty, failure == nil else { return }
      do throws(CommandError) {
        for (line, item) in zip(numbers, try send(lines, first: numbers[0])) {
          if let id = item["call"]["id"].text {
            accepted += 1
            if !arguments.has("--json") { Terminal.write(id + "\n") }
          } else {
            refused += 1
            progress.end()
            Terminal.error("redial batch: line \(line): \(Self.reason(item))\n")
          }
        }
        progress.show("\(accepted) calls accepted, \(refused) refused")
      } catch {
        failure = error
      }
      lines.removeAll(keepingCapacity: true)
      numbers.removeAll(keepingCapacity: true)
    }
    try reader.forEach { line in
      number += 1
      guard !line.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) else { return }
      lines.append(Array(line))
      numbers.append(number)
      if lines.count == size { submit() }
    }
    submit()
    progress.end()
    if let failure {
      throw CommandError(
        code: failure.code, message: "\(failure.message)\n\(accepted) calls were accepted, up to line \(number).")
    }
    if accepted + refused == 0 { throw CommandError(code: .usage, message: "there are no descriptors, one a line") }
    return refused == 0 ? .success : .unsuccessful
  }

  /// What becomes of each descriptor, in order.
  private func send(_ lines: [[UInt8]], first: Int) throws(CommandError) -> [JSONValue] {
    var headers = [HeaderField("content-type", "application/x-ndjson")]
    if let key = arguments.value("--idempotency-key") {
      headers.append(HeaderField("idempotency-key", "\(key)/\(first)"))
    }
    let body = Array(lines.joined(separator: [UInt8(ascii: "\n")])) + [UInt8(ascii: "\n")]
    let answer = try client.request("POST", "/v1/calls/batch", json: body, headers: headers)
    if arguments.has("--json") { Terminal.write(String(decoding: answer.body, as: UTF8.self)) }
    return answer.body.split(separator: UInt8(ascii: "\n")).map { (try? JSONValue(parsing: Array($0))) ?? .null }
  }

  private static func reason(_ item: JSONValue) -> String {
    let problem = item["problem"]
    let faults = problem["errors"].elements.map { "\($0["pointer"].text ?? "") \($0["detail"].text ?? "")" }
    return faults.isEmpty ? problem["detail"].text ?? "it was refused" : faults.joined(separator: "; ")
  }
}

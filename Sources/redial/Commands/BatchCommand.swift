import RedialModel

extension Command {
  /// `redial batch`
  static let batch = Command(
    name: "batch", summary: "Submit many calls: a file with one call descriptor per line.", operands: "[FILE]",
    operandCount: 0...1,
    options: [
      Option(
        name: "--size", form: "COUNT",
        summary: "Descriptors per request, 1 to 1000 [500]. Not with --idempotency-key, which needs 500."),
      Option(
        name: "--idempotency-key", form: "KEY",
        summary: "For a day, sending the same whole file under the same key submits no call twice."),
      Option(name: "--json", summary: "Show the answers of the service, one line per call."),
    ] + APIClient.options,
    notes: """
      Without FILE it reads standard input. It shows the id of each accepted call. An invalid line is reported on standard
      error, the other lines are submitted, and the exit code is 1. If the service fails, the command stops and names the
      first line without an answer. With --idempotency-key, a descriptor is recognized by its position in the file, not
      counting blank lines. So send the whole file again, not only the rest; you can add lines at the end.
      """
  ) { arguments throws(CommandError) in
    try BatchCommand(arguments).run()
  }
}

/// Submits descriptors, many per request.
struct BatchCommand {
  private static let largestSize = 1000
  /// Descriptors per request. With a key the service identifies a descriptor by its request and its position there, so
  /// requests must begin at the same lines whenever a file is sent.
  private static let usualSize = 500

  private let arguments: Arguments
  private let client: APIClient
  private let size: Int

  private var progress = ProgressLine()
  private var lines: [[UInt8]] = []
  /// The line number in the file of each of `lines`, from 1.
  private var numbers: [Int] = []
  private var accepted = 0
  private var refused = 0
  /// The last line of the file up to which each has an answer.
  private var answeredUpTo = 0
  /// How many descriptors were in the requests before.
  private var sent = 0
  /// Why the service accepts no more, as it said after the answers to all that it received.
  private var ending: CommandError?

  init(_ arguments: Arguments) throws(CommandError) {
    self.arguments = arguments
    let wanted = try arguments.number("--size", in: 1...Self.largestSize)
    guard wanted == nil || !arguments.has("--idempotency-key") else {
      throw CommandError(
        code: .usage,
        message: "--size cannot be given with --idempotency-key: a descriptor is recognized by its place in a "
          + "request, so requests then always hold \(Self.usualSize)")
    }
    size = wanted ?? Self.usualSize
    client = APIClient(arguments)
  }

  func run() throws(CommandError) -> ExitCode {
    var command = self
    return try command.submitAll()
  }

  private mutating func submitAll() throws(CommandError) -> ExitCode {
    var reader = try LineReader(arguments.operands.first)
    var number = 0
    var failure: CommandError?
    func attempt(_ body: () throws(CommandError) -> Void) {
      do throws(CommandError) { try body() } catch { failure = error }
    }
    try reader.forEach { line in
      number += 1
      guard !line.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) else { return true }
      lines.append(Array(line))
      numbers.append(number)
      if lines.count == size || ending != nil { attempt { () throws(CommandError) in try submit() } }
      return failure == nil
    }
    if failure == nil, !lines.isEmpty { attempt { () throws(CommandError) in try submit() } }
    progress.end()
    if let failure { throw failure }
    if accepted + refused == 0 {
      throw CommandError(code: .usage, message: "there are no descriptors; give one per line")
    }
    return refused == 0 ? .success : .unsuccessful
  }

  /// Submits the collected lines.
  ///
  /// - Throws: If any of them has no answer; it names the first one.
  private mutating func submit() throws(CommandError) {
    if let ending { throw stopped(ending, at: 0) }
    let items: [JSONValue]
    do throws(CommandError) { items = try send() } catch { throw stopped(error, at: 0) }
    var hasAnswer = [Bool](repeating: false, count: lines.count)
    for item in items {
      guard let line = item["line"].integer, hasAnswer.indices.contains(line - 1), !hasAnswer[line - 1] else {
        // A line of the answer that belongs to no line of the file says why the service accepted no more.
        let code: ExitCode = item["problem"]["status"].integer == nil ? .unreachable : .refused
        ending = ending ?? CommandError(code: code, message: item["problem"].problemText ?? "it was refused")
        continue
      }
      hasAnswer[line - 1] = true
      tell(item, of: numbers[line - 1])
    }
    if let first = hasAnswer.firstIndex(of: false) {
      let unsaid = CommandError(code: .unreachable, message: "\(client.base) answered fewer lines than it was sent")
      throw stopped(ending ?? unsaid, at: first)
    }
    answeredUpTo = numbers.last ?? answeredUpTo
    sent += lines.count
    lines.removeAll(keepingCapacity: true)
    numbers.removeAll(keepingCapacity: true)
    progress.show("\(accepted) calls accepted, \(refused) refused")
  }

  private mutating func tell(_ item: JSONValue, of line: Int) {
    if let id = item["call"]["id"].escapedText {
      accepted += 1
      if !arguments.has("--json") { Terminal.write(id + "\n") }
    } else {
      refused += 1
      progress.end()
      Terminal.error("redial batch: line \(line): \(item["problem"].problemText ?? "it was refused")\n")
    }
  }

  /// The last answered line, after the reason why it stopped.
  private func stopped(_ error: CommandError, at index: Int) -> CommandError {
    let (first, before) = (numbers[index], index > 0 ? numbers[index - 1] : answeredUpTo)
    var message = "\(error.message)\n\(accepted) calls were accepted, \(refused) refused, up to line \(before). "
    message += "Line \(first) is the first without an answer."
    if error.code == .unreachable, ending == nil {
      // The request may have arrived, and only its answer been lost.
      message += " It and those after it may have been accepted"
      message +=
        arguments.has("--idempotency-key")
        ? ": send the whole file again under the same key." : "; with --idempotency-key a file can be sent again."
    }
    return CommandError(code: error.code, message: message)
  }

  /// The result of each descriptor, with its line.
  private func send() throws(CommandError) -> [JSONValue] {
    var headers = [HeaderField("content-type", "application/x-ndjson")]
    if let key = arguments.value("--idempotency-key") {
      // Not the number of the line, which blank lines change.
      headers.append(HeaderField("idempotency-key", "\(key)/\(sent + 1)"))
    }
    let body = Array(lines.joined(separator: [UInt8(ascii: "\n")])) + [UInt8(ascii: "\n")]
    let answer = try client.request("POST", "/v1/calls/batch", json: body, headers: headers)
    if arguments.has("--json") { Terminal.write(json: answer.body, end: "") }
    return answer.body.split(separator: UInt8(ascii: "\n")).map { (try? JSONValue(parsing: Array($0))) ?? .null }
  }
}

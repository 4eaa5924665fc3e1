import Glibc
import RedialModel

extension Command {
  /// `redial completion`
  static let completion = Command(
    name: "completion", summary: "Show a completion script for a shell.", operands: "bash|zsh|fish",
    operandCount: 1...1, words: [CompletionScript.Shell.allCases.map(\.rawValue)],
    notes: """
      bash: source <(redial completion bash)
      zsh:  source <(redial completion zsh)
      fish: redial completion fish | source
      The scripts complete commands, options, and values. The values of targets, calls, policies, keys, webhooks and
      operations come from the service that the line or REDIAL_SERVER names, if it answers within a second. An API key is
      sent only to this machine or over TLS.
      """
  ) { arguments throws(CommandError) in
    guard let shell = arguments.operands.first.flatMap(CompletionScript.Shell.init) else {
      let shells = CompletionScript.Shell.allCases.map(\.rawValue).joined(separator: ", ")
      throw CommandError(code: .usage, message: "there is no completion for that shell; there is for \(shells)")
    }
    Terminal.write(CompletionScript(commands: RedialTool.commands).text(for: shell))
    return .success
  }
}

/// The values that a shell offers for the last word of its line. The completion scripts ask for them; nobody else does.
///
/// The words come on standard input, each ended by a zero byte, because everybody can see the arguments of a process, and
/// one of the words may be an API key. Nothing is said about what goes wrong: that would be written into the line.
enum CompletedValues {
  /// The longest line, in bytes.
  private static let maximumBytes = 1 << 16
  /// A shell waits for the answer.
  private static let timeout = Duration.seconds(1)

  static func run() -> ExitCode {
    var bytes = [UInt8](repeating: 0, count: maximumBytes)
    var count = 0
    while count < bytes.count {
      let length = bytes.withUnsafeMutableBytes {
        read(STDIN_FILENO, $0.baseAddress?.advanced(by: count), $0.count - count)
      }
      if length <= 0 { break }
      count += length
    }
    let words = bytes[..<count].split(separator: 0, omittingEmptySubsequences: false).dropLast()
    let line = words.map { String(decoding: $0, as: UTF8.self) }
    guard let completion = ValueCompletion(line, of: RedialTool.commands) else { return .success }
    Terminal.write(completion.lines(values(completion)).map { $0 + "\n" }.joined())
    return .success
  }

  private static func values(_ completion: ValueCompletion) -> [CompletedValue] {
    if let words = completion.kind.words { return words.compactMap { CompletedValue($0, nil) } }
    guard let path = completion.kind.path(prefix: completion.prefix) else { return [] }
    let url = completion.server ?? APIClient.serverOfEnvironment ?? APIClient.defaultURL
    let key = completion.key ?? Environment.value("REDIAL_API_KEY")
    // Who only presses a key has not decided yet to send an API key in the clear.
    guard key?.isEmpty != false || APIClient.warning(ofKeySentTo: url) == nil else { return [] }
    let client = APIClient(
      base: url, key: key, namespace: completion.namespace ?? Environment.value("REDIAL_NAMESPACE"))
    guard let answer = try? client.request("GET", path, within: timeout) else { return [] }
    return completion.kind.values(in: answer.json)
  }
}

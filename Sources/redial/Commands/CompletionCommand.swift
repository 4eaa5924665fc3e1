extension Command {
  /// `redial completion`
  static let completion = Command(
    name: "completion", summary: "Show a completion script for a shell.", operands: "bash|zsh|fish",
    operandCount: 1...1, words: [CompletionScript.Shell.allCases.map(\.rawValue)],
    notes: """
      bash: source <(redial completion bash)
      zsh:  source <(redial completion zsh)
      fish: redial completion fish | source
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

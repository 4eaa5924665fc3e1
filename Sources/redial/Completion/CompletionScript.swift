/// A shell's completion script for `redial`, generated from its commands.
struct CompletionScript {
  enum Shell: String, CaseIterable {
    case bash, zsh, fish
  }

  let commands: [Command]

  /// The script for a shell, which the shell sources.
  func text(for shell: Shell) -> String {
    switch shell {
    case .bash: bash
    case .zsh: zsh
    case .fish: fish
    }
  }

  // MARK: bash

  private var bash: String {
    var text = """
      # bash completion for redial:  source <(redial completion bash)
      _redial() {
        local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words=
        COMPREPLY=()
        if [ "$COMP_CWORD" -eq 1 ]; then
          COMPREPLY=($(compgen -W "\(commands.map(\.name).joined(separator: " ")) --help --version" -- "$current"))
          return
        fi
        case "${COMP_WORDS[1]}" in

      """
    for command in commands {
      let options = command.options.flatMap { [$0.name] + ($0.short.map { [$0] } ?? []) } + helps(command)
      let valued = command.options.filter { $0.form != nil }.flatMap { [$0.name] + ($0.short.map { [$0] } ?? []) }
      text += "    \(command.name))\n"
      // The value of an option may be a file: the shell's own completion follows.
      if !valued.isEmpty { text += "      case \"$previous\" in \(valued.joined(separator: "|"))) return ;; esac\n" }
      text += "      words=\"\(options.joined(separator: " "))\"\n"
      for (place, words) in command.words.enumerated() {
        text += "      [ \"$COMP_CWORD\" -eq \(place + 2) ] && [[ $current != -* ]] &&"
        text += " COMPREPLY=($(compgen -W \"\(words.joined(separator: " "))\" -- \"$current\"))\n"
      }
      text += "      ;;\n"
    }
    return text + """
        esac
        [[ $current == -* ]] && COMPREPLY=($(compgen -W "$words" -- "$current"))
      }
      complete -o default -F _redial redial

      """
  }

  /// The options of a command that can be completed.
  private func helps(_ command: Command) -> [String] {
    ["--help"] + (command.options.contains(where: \.isRare) ? ["--help-all"] : [])
  }

  // MARK: zsh

  private var zsh: String {
    var text = """
      #compdef redial
      # zsh completion for redial:  source <(redial completion zsh)
      _redial() {
        local -a commands
        if (( CURRENT == 2 )); then
          commands=(

      """
    for command in commands {
      text += "      \(Self.quoted(Self.colonEscaped(command.name) + ":" + command.summary))\n"
    }
    text += """
          )
          _describe command commands
          return
        fi
        local command=$words[2]
        shift words
        (( CURRENT-- ))
        case $command in

      """
    for command in commands {
      text += "    \(command.name))\n      _arguments -s"
      for option in command.options {
        let names = [option.name] + (option.short.map { [$0] } ?? [])
        for name in names {
          let repeats = option.repeats ? "*" : ""
          let value = option.form.map { ":\(Self.colonEscaped($0)):_default" } ?? ""
          let equals = option.form != nil && name.hasPrefix("--") ? "=" : ""
          text +=
            " \\\n        " + Self.quoted("\(repeats)\(name)\(equals)[\(Self.bracketEscaped(option.summary))]\(value)")
        }
      }
      for (place, words) in command.words.enumerated() {
        text += " \\\n        " + Self.quoted("\(place + 1): :(\(words.joined(separator: " ")))")
      }
      for help in helps(command) { text += " \\\n        '\(help)[Show what it takes.]'" }
      text += " '*: :_default' ;;\n"
    }
    return text
      + "  esac\n}\nif [ \"$funcstack[1]\" = _redial ]; then _redial \"$@\"; else compdef _redial redial; fi\n"
  }

  // MARK: fish

  private var fish: String {
    var text = "# fish completion for redial:  redial completion fish | source\n"
    for command in commands {
      text +=
        "complete -c redial -n __fish_use_subcommand -f -a \(command.name) -d \(Self.fishQuoted(command.summary))\n"
      let condition = "'__fish_seen_subcommand_from \(command.name)'"
      for option in command.options {
        var line = "complete -c redial -n \(condition) -l \(option.name.dropFirst(2))"
        if let short = option.short { line += " -s \(short.dropFirst(1))" }
        if option.form != nil { line += " -r" }
        text += line + " -d \(Self.fishQuoted(option.summary))\n"
      }
      for (place, words) in command.words.enumerated() {
        let place = "test (count (commandline -opc)) -eq \(place + 2)"
        text += "complete -c redial -n '__fish_seen_subcommand_from \(command.name); and \(place)' -f -a"
        text += " \(Self.fishQuoted(words.joined(separator: " ")))\n"
      }
      for help in helps(command) {
        text += "complete -c redial -n \(condition) -l \(help.dropFirst(2)) -d 'Show what it takes.'\n"
      }
    }
    return text
  }

  // MARK: Quoting

  /// In single quotes, as bash and zsh read them.
  private static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }

  private static func fishQuoted(_ text: String) -> String {
    "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
  }

  private static func colonEscaped(_ text: String) -> String { text.replacing(":", with: "\\:") }

  private static func bracketEscaped(_ text: String) -> String {
    text.replacing("[", with: "\\[").replacing("]", with: "\\]")
  }
}

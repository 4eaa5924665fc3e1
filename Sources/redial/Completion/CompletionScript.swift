import RedialText

/// A shell's completion script for `redial`, generated from its commands.
struct CompletionScript {
  enum Shell: String, CaseIterable {
    case bash, zsh, fish
  }

  /// With this argument `redial` reads the words of a line, each ended by a zero byte, and writes what the last one can be.
  static let argument = "--complete-values"

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
    var text = #"""
      # bash completion for redial:  source <(redial completion bash)
      _redial_values() {
        # Of the word that is typed, bash replaces what stands behind the last ":" or "=", if it breaks words there.
        local word=${line[count]} breaks= head= value name=
        [[ $word == [\'\"]* ]] && return
        word=${word//\\/}
        [[ $COMP_WORDBREAKS == *:* ]] && breaks+=:
        [[ $COMP_WORDBREAKS == *=* ]] && breaks+==
        [[ $word == --*=* ]] && name=${word%%=*}=
        [[ $breaks ]] && head=${word%"${word##*[$breaks]}"}
        while IFS=$'\t' read -r value _; do
          value=$name$value
          value=${value#"$head"}
          [[ $value == *[!A-Za-z0-9_./:@%+,=-]* ]] && printf -v value %q "$value"
          [[ $value ]] && COMPREPLY+=("$value")
        done < <(printf '%s\0' "${line[@]:1}" | "${line[0]/#\~\//$HOME/}" \#(CompletionScript.argument) 2>/dev/null)
      }
      _redial() {
        # bash also breaks words at ":" and "=": put them together again.
        local line=() count=-1 rest=$COMP_LINE i
        for ((i = 0; i <= COMP_CWORD; i++)); do
          [[ $i -eq 0 || $rest == [[:blank:]]* ]] && line[$((++count))]=
          rest=${rest#"${rest%%[![:blank:]]*}"}
          line[count]+=${COMP_WORDS[i]}
          rest=${rest#"${COMP_WORDS[i]}"}
        done
        for ((i = 1; i < count; i++)); do
          [[ ${line[i]} == \'*\' || ${line[i]} == \"*\" ]] && line[i]=${line[i]:1:${#line[i]}-2}
          line[i]=${line[i]//\\/}
        done
        local current=${line[count]} previous=${line[count-1]} words=
        COMPREPLY=()
        if [ "$count" -eq 1 ]; then
          COMPREPLY=($(compgen -W "\#(commands.map(\.name).joined(separator: " ")) --help --version" -- "$current"))
          return
        fi
        case "${line[1]}" in

      """#
    for command in commands {
      let options = command.options.flatMap(Self.names) + helps(command)
      let valued = command.options.filter { $0.form != nil }
      let known = valued.filter { $0.values != nil }
      let others = valued.filter { $0.values == nil }.flatMap(Self.names)
      text += "    \(command.name))\n"
      if !known.isEmpty {
        let names = known.flatMap(Self.names).joined(separator: "|")
        let equals = known.map { "\($0.name)=*" }.joined(separator: "|")
        text += "      case \"$previous\" in \(names)) _redial_values; return ;; esac\n"
        text += "      case \"$current\" in \(equals)) _redial_values; return ;; esac\n"
      }
      // The value of any other option may be a file: the shell's own completion follows.
      if !others.isEmpty { text += "      case \"$previous\" in \(others.joined(separator: "|"))) return ;; esac\n" }
      text += "      words=\"\(options.joined(separator: " "))\"\n"
      for (place, words) in command.words.enumerated() where !words.isEmpty {
        text += "      [ \"$count\" -eq \(place + 2) ] && [[ $current != -* ]] &&"
        text += " COMPREPLY=($(compgen -W \"\(words.joined(separator: " "))\" -- \"$current\"))\n"
      }
      if !command.operandValues.isEmpty { text += "      [[ $current != -* ]] && _redial_values\n" }
      text += "      ;;\n"
    }
    return text + """
        esac
        [[ $current == -* ]] && COMPREPLY=($(compgen -W "$words" -- "$current"))
      }
      complete -o default -F _redial redial

      """
  }

  private static func names(_ option: Command.Option) -> [String] { [option.name] + (option.short.map { [$0] } ?? []) }

  /// The options of a command that can be completed.
  private func helps(_ command: Command) -> [String] {
    ["--help"] + (command.options.contains(where: \.isRare) ? ["--help-all"] : [])
  }

  // MARK: zsh

  private var zsh: String {
    var text = #"""
      #compdef redial
      # zsh completion for redial:  source <(redial completion zsh)
      _redial_values() {
        local one
        local -a values shown
        for one in "${(@f)$(print -rN -- "${(@Q)words[1,CURRENT]}" | ${~program} \#(CompletionScript.argument) 2>/dev/null)}"; do
          [[ -n $one ]] || continue
          values+=("${one%%$'\t'*}")
          shown+=("${one/$'\t'/  }")
        done
        if (( $#values )); then compadd -l -d shown -a values; else _default; fi
      }
      _redial() {
        local -a commands
        local program=$words[1]
        if (( CURRENT == 2 )); then
          commands=(

      """#
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
          let action = option.values == nil ? "_default" : "_redial_values"
          let value = option.form.map { ":\(Self.colonEscaped($0)):\(action)" } ?? ""
          let equals = option.form != nil && name.hasPrefix("--") ? "=" : ""
          text +=
            " \\\n        " + Self.quoted("\(repeats)\(name)\(equals)[\(Self.bracketEscaped(option.summary))]\(value)")
        }
      }
      for (place, words) in command.words.enumerated() where !words.isEmpty {
        text += " \\\n        " + Self.quoted("\(place + 1): :(\(words.joined(separator: " ")))")
      }
      for help in helps(command) { text += " \\\n        '\(help)[Show what it takes.]'" }
      text += command.operandValues.isEmpty ? " '*: :_default' ;;\n" : " '*: :_redial_values' ;;\n"
    }
    return text
      + "  esac\n}\nif [ \"$funcstack[1]\" = _redial ]; then _redial \"$@\"; else compdef _redial redial; fi\n"
  }

  // MARK: fish

  private var fish: String {
    var text = """
      # fish completion for redial:  redial completion fish | source
      function __redial_values
          set -l words (commandline -opc)
          set -l current (commandline -ct)
          # No word at all is an empty one.
          test (count $current) -gt 0; or set current ''
          printf '%s\\0' $words[2..-1] $current | $words[1] \(Self.argument) 2>/dev/null
      end

      """
    for command in commands {
      text +=
        "complete -c redial -n __fish_use_subcommand -f -a \(command.name) -d \(Self.fishQuoted(command.summary))\n"
      let condition = "'__fish_seen_subcommand_from \(command.name)'"
      for option in command.options {
        var line = "complete -c redial -n \(condition) -l \(option.name.dropFirst(2))"
        if let short = option.short { line += " -s \(short.dropFirst(1))" }
        if option.form != nil { line += option.values == nil ? " -r" : " -x -a '(__redial_values)'" }
        text += line + " -d \(Self.fishQuoted(option.summary))\n"
      }
      for (place, words) in command.words.enumerated() where !words.isEmpty {
        let place = "test (count (commandline -opc)) -eq \(place + 2)"
        text += "complete -c redial -n '__fish_seen_subcommand_from \(command.name); and \(place)' -f -a"
        text += " \(Self.fishQuoted(words.joined(separator: " ")))\n"
      }
      if !command.operandValues.isEmpty { text += "complete -c redial -n \(condition) -f -a '(__redial_values)'\n" }
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

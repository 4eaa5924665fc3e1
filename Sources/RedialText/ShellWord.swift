/// Text as a word of a command line for a POSIX shell.
package enum ShellWord {
  /// In single quotes, within which a shell keeps everything except the quote.
  package static func quoted(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }

  /// As it is if no shell changes it, else in quotes.
  package static func plain(_ text: String) -> String {
    let isPlain =
      !text.isEmpty
      && text.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF) || "_./:@%+,-".utf8.contains($0)
      }
    return isPlain ? text : quoted(text)
  }
}

internal import Glibc
package import RedialModel

/// A program that wraps data keys, for example with a key management service.
///
/// It is started with `wrap` or `unwrap`, gets base 64 on its standard input, and prints base 64.
package struct KeyCommand: KeyKeeper {
  /// What names the key that wraps: which one it is, the program knows.
  private static let name = "command"
  /// How long it may take.
  private static let milliseconds: Int32 = 10_000

  private let program: String

  /// - Parameter program: A path.
  package init(_ program: String) {
    self.program = program
  }

  package func wrap(_ key: [UInt8], _ name: SealedName) throws(StoreError) -> (wrapped: [UInt8], by: String) {
    (try run("wrap", key), Self.name)
  }

  package func unwrap(_ wrapped: [UInt8], by: String, _ name: SealedName) throws(StoreError) -> [UInt8] {
    guard by == Self.name else {
      throw StoreError(
        kind: .unavailable,
        message: "What is encrypted here needs the key \(by), which is in a file: set encryptionKeyFile in place of "
          + "encryptionKeyCommand. Nothing was changed.")
    }
    let key = try run("unwrap", wrapped)
    guard key.count == GCMKey.keyBytes else { throw failure("unwrap", "it printed \(key.count) bytes, not 32") }
    return key
  }

  package func isOld(by: String) -> Bool { false }

  private func failure(_ what: String, _ reason: String) -> StoreError {
    StoreError(
      kind: .unavailable,
      message: "\(program) \(what), which encryptionKeyCommand names, has failed: \(reason). Nothing was changed.")
  }

  private func run(_ what: String, _ input: [UInt8]) throws(StoreError) -> [UInt8] {
    var (given, printed): ([Int32], [Int32]) = ([0, 0], [0, 0])
    guard pipe(&given) == 0, pipe(&printed) == 0 else { throw failure(what, String(cString: strerror(errno))) }
    for end in given + printed { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    // It fits the pipe, so nothing waits here; and a program that does not read cannot end this one by a signal.
    let line = Array((Base64.encode(input) + "\n").utf8)
    _ = write(given[1], line, line.count)
    defer { close(printed[0]) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, given[0], 0)
    posix_spawn_file_actions_adddup2(&actions, printed[1], 1)
    var arguments = [strdup(program), strdup(what), nil]
    defer { for argument in arguments { free(argument) } }
    var process: pid_t = 0
    let result = posix_spawn(&process, program, &actions, nil, &arguments, environ)
    close(given[0])
    close(printed[1])
    close(given[1])
    guard result == 0 else { throw failure(what, String(cString: strerror(result))) }
    var output: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while true {
      var watched = pollfd(fd: printed[0], events: Int16(POLLIN), revents: 0)
      let count = poll(&watched, 1, Self.milliseconds) == 1 ? read(printed[0], &piece, piece.count) : -1
      guard count >= 0, output.count <= 1 << 16 else {
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
        throw failure(what, "it printed no key within 10 s")
      }
      if count == 0 { break }
      output += piece[..<count]
    }
    var status: Int32 = 0
    waitpid(process, &status, 0)
    guard status == 0 else { throw failure(what, "it ended with the status \(status >> 8 & 0xFF)") }
    let text = String(decoding: output.prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
    guard let bytes = Base64.decode(text), !bytes.isEmpty else { throw failure(what, "it printed no base 64") }
    return bytes
  }
}

internal import Synchronization
package import RedialModel

/// A program that wraps data keys, for example with a key management service.
///
/// It is started with `wrap` or `unwrap`, gets base 64 on its standard input, and prints base 64. It may take ten seconds; then
/// it is killed, with all that it has started.
package struct KeyCommand: KeyKeeper {
  /// What names the key that wraps: which one it is, the program knows.
  private static let name = "command"
  /// How long it may take, from its start to its end.
  static let limit = Duration.seconds(10)

  /// The right to run the program.
  private final class ProgramTurn: Sendable { let lock = Mutex(()) }

  private let program: String
  private let turn = ProgramTurn()

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

  package var isSlow: Bool { true }

  private func failure(_ what: String, _ reason: String) -> StoreError {
    StoreError(
      kind: .unavailable,
      message: "\(program) \(what), which encryptionKeyCommand names, has failed: \(reason). Nothing was changed.")
  }

  private func run(_ what: String, _ input: [UInt8]) throws(StoreError) -> [UInt8] {
    // One at a time: a service that many new namespaces reach does not start as many programs.
    try turn.lock.withLock { _ throws(StoreError) in try runAlone(what, input) }
  }

  private func runAlone(_ what: String, _ input: [UInt8]) throws(StoreError) -> [UInt8] {
    let process: KeyProcess
    do throws(KeyProcess.Failure) {
      process = try KeyProcess(program, what, Array((Base64.encode(input) + "\n").utf8))
    } catch {
      throw failure(what, error.reason)
    }
    switch process.end(within: Self.limit) {
    case .late: throw failure(what, "it did not end within \(Self.limit.components.seconds) s, and was killed")
    case .tooMuch: throw failure(what, "it printed more than \(KeyProcess.largestOutput) bytes, and was killed")
    case .ended(let status, _) where status != 0:
      throw failure(
        what, status & 0x7F == 0 ? "it ended with the status \(status >> 8 & 0xFF)" : "signal \(status & 0x7F) ended it"
      )
    case .ended(_, let output):
      let text = String(decoding: output.prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
      guard let bytes = Base64.decode(text), !bytes.isEmpty else { throw failure(what, "it printed no base 64") }
      return bytes
    }
  }
}

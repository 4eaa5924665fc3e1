import RedialStore

extension Command {
  /// `redial backup`
  static let backup = Command(
    name: "backup", summary: "Copy a store, of a running service or at rest, into a new file.",
    operands: "FILE", operandCount: 1...1,
    options: StoreOption.options + [
      Option(name: "--compact", summary: "Write it anew, without the space that removed calls left.")
    ],
    notes: """
      The copy is the store as of one moment, and is a store itself: to restore it, stop the service, move its file and
      those beside it (-wal, -shm) away, and put the copy in their place. It holds the webhook secret and all payloads.
      """
  ) { arguments throws(CommandError) in
    let (source, target) = (try StoreOption.path(arguments), arguments.operands[0])
    do throws(StoreError) {
      let bytes = try StoreBackup.copy(from: source, to: target, compact: arguments.has("--compact"))
      Terminal.write("wrote \(bytes) bytes of \(source) to \(target)\n")
    } catch {
      throw CommandError(code: .unsuccessful, message: error.message)
    }
    return .success
  }
}

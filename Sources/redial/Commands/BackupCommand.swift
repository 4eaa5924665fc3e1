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
      // How far it is shows in the copy, which grows under another name.
      let partial = StoreBackup.partialPath(of: target)
      let isCompact = arguments.has("--compact")
      let bytes = try ProgressLine.showing {
        let (copied, whole) = (FileReading.size(partial) ?? 0, FileReading.size(source) ?? 0)
        return "\(ProgressLine.bar(copied, of: whole))  \(copied >> 20) of \(whole >> 20) MiB"
      } while: { () throws(StoreError) in
        try StoreBackup.copy(from: source, to: target, compact: isCompact)
      }
      Terminal.write("wrote \(bytes) bytes of \(source) to \(target)\n")
    } catch {
      throw CommandError(code: .unsuccessful, message: error.message)
    }
    return .success
  }
}

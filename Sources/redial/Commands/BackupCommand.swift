import RedialSQLite
import RedialStore
internal import RedialModel

extension Command {
  /// `redial backup`
  static let backup = Command(
    name: "backup", summary: "Copy a store into a new file; a service can be running on it.",
    operands: "FILE", operandCount: 1...1,
    options: StoreOption.options + [
      Option(name: "--compact", summary: "Leave out the free space of removed calls.")
    ],
    notes: """
      The copy is the whole store as of one moment. To restore it, stop the service, move the store's file and the files
      beside it (-wal, -shm) away, and put the copy in its place. The copy holds the webhook secret and all payloads.
      """
  ) { arguments throws(CommandError) in
    let (source, target) = (try StoreOption.path(arguments), arguments.operands[0])
    do throws(StoreError) {
      // The size of the copy, which is written under another name, shows the progress.
      let partial = PartialFile.path(of: target)
      let isCompact = arguments.has("--compact")
      let bytes = try ProgressLine.showing {
        let (copied, whole) = (FileReading.size(partial) ?? 0, FileReading.size(source) ?? 0)
        return "\(ProgressLine.bar(copied, of: whole))  \(copied >> 20) of \(whole >> 20) MiB"
      } while: { () throws(StoreError) in
        try StoreBackup.copy(from: source, to: target, compact: isCompact)
      }
      Terminal.write("wrote \(bytes) bytes of \(source) to \(target)\n")
    } catch {
      throw CommandError(error)
    }
    return .success
  }
}

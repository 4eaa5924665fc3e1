import Glibc
internal import RedialModel
import RedialService
import RedialSQLite
import RedialStore

extension Command {
  /// `redial rekey`
  static let rekey = Command(
    name: "rekey", summary: "Encrypt all that a store has again, by new data keys.",
    options: StoreOption.any + [
      Option(
        name: "--erase-namespace", form: "NAME",
        summary: "Instead: erase the data keys of this namespace, and with them the payloads of its calls, for good.")
    ],
    notes: """
      The service can be running. Of an SQLite store it does the work between its commits, and this command shows how far it is; if it
      is ended meanwhile, its next start goes on. Of a PostgreSQL store this command does the work; if it is ended, start it again.
      Values from before encryptionKeyFile was set are encrypted, too. Data keys that are erased cannot be had back, except with a
      backup of the store.
      """
  ) { arguments throws(CommandError) in
    let settings = try StoreOption.settings(arguments)
    if let name = arguments.value("--erase-namespace") {
      guard let namespace = Namespace(name) else {
        throw CommandError(code: .usage, message: "--erase-namespace: \"\(name)\" is not the name of a namespace")
      }
      let count = try ArchiveCommands.open { () throws(ServiceStartError) in try settings.eraseKeys(of: namespace) }
      Terminal.write("erased \(count) data keys of the namespace \(name)\n")
      return count > 0 ? .success : .unsuccessful
    }
    var progress = ProgressLine()
    defer { progress.end() }
    try ArchiveCommands.open { () throws(ServiceStartError) in
      try settings.rekey { step in
        progress.show(ProgressLine.bar(step.done, of: step.all) + "  \(step.done) of \(step.all) calls")
      }
    }
    progress.end()
    Terminal.write(
      "all that is encrypted has new data keys; payloads are encrypted only with encryptionKeyFile or encryptionKeyCommand\n"
    )
    return .success
  }
}

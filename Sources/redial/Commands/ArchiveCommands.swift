import Glibc
internal import RedialModel
import RedialService
import RedialStore
import RedialJSON

extension Command {
  /// `redial export`
  static let export = Command(
    name: "export", summary: "Write the calls of a store as JSON, one per line.",
    options: StoreOption.any + [
      Option(
        name: "--state", form: "STATE", summary: "Only scheduled, running, succeeded, failed or cancelled ones.",
        values: .words(CallState.allCases.map(\.rawValue))),
      Option(name: "--output", short: "-o", form: "FILE", summary: "Write to this new file [standard output]."),
    ],
    notes: """
      A service can be running on the store. Each call is exported as it is at one moment, but calls differ in that moment; a
      backup (of SQLite, `redial backup`) has all of them as of one moment. Bodies are in base 64, times and durations in microseconds.
      """
  ) { arguments throws(CommandError) in
    var state: CallState?
    if let text = arguments.value("--state") {
      state = CallState(rawValue: text)
      if state == nil { throw CommandError(code: .usage, message: "--state: \"\(text)\" is not the state of a call") }
    }
    let settings = try StoreOption.settings(arguments)
    return try ArchiveCommands.export(settings, state, to: arguments.value("--output"))
  }

  /// `redial import`
  static let importing = Command(
    name: "import", summary: "Import calls that `redial export` wrote into a store.",
    operands: "[FILE]", operandCount: 0...1, options: StoreOption.any,
    notes: """
      Without FILE it reads standard input. No service may be running on the store. A call that the store already has is not
      changed, so you can repeat an import that was interrupted. An invalid line is reported, and the others are imported.
      """
  ) { arguments throws(CommandError) in
    try ArchiveCommands.importing(arguments.operands.first, into: try StoreOption.settings(arguments))
  }
}

/// Writes calls to, and reads them from, lines of JSON.
enum ArchiveCommands {
  /// Maximum number of invalid lines that are reported one by one; the rest is counted.
  private static let maximumFaults = 100

  static func export(
    _ settings: ServiceSettings, _ state: CallState?, to output: String?
  ) throws(CommandError) -> ExitCode {
    let export: any ExportedCalls
    do throws(Service.StartError) {
      export = try settings.exportedCalls(in: state)
    } catch {
      throw CommandError(code: .unsuccessful, message: error.message)
    }
    defer { export.close() }
    var lines = try LineWriter(output)
    var failure: CommandError?
    var (written, damaged) = (0, 0)
    var progress = ProgressLine()
    // Output to a terminal itself shows the progress.
    let showsProgress = output != nil || !Terminal.isTerminal(STDOUT_FILENO)
    do throws(StoreError) {
      try export.forEach { call in
        guard failure == nil else { return }
        do throws(CommandError) {
          try lines.write(call.json)
          written += 1
          if showsProgress { progress.show("\(written) calls exported") }
        } catch {
          failure = error
        }
      } damage: { error in
        damaged += 1
        progress.end()
        Terminal.error("redial export: \(error.message)\n")
      }
    } catch {
      throw CommandError(error)
    }
    progress.end()
    if let failure { throw failure }
    try lines.finish()
    if let output { Terminal.write("wrote \(written) calls to \(output)\n") }
    return damaged == 0 ? .success : .unsuccessful
  }

  static func importing(_ file: String?, into settings: ServiceSettings) throws(CommandError) -> ExitCode {
    var lines = try LineReader(file)
    let store: StoreImport
    do throws(ServiceStartError) {
      store = try settings.storeImport()
    } catch {
      throw CommandError(code: .unsuccessful, message: error.message)
    }
    var (number, faults, bytes) = (0, 0, 0)
    let size = file.flatMap(FileReading.size)
    var progress = ProgressLine()
    defer { progress.end() }
    let tally: StoreImport.Tally
    do throws(StoreError) {
      var failure: StoreError?
      do throws(CommandError) {
        try lines.forEach { line in
          number += 1
          bytes += line.count + 1
          progress.show((size.map { ProgressLine.bar(bytes, of: $0) + "  " } ?? "") + "\(number) lines read")
          guard !line.isEmpty else { return true }
          do throws(JSONError) {
            let call = try ArchivedCall.read(line, at: WallClock.now)
            do throws(StoreError) { try store.add(call) } catch { failure = error }
          } catch {
            faults += 1
            guard faults <= Self.maximumFaults else { return true }
            progress.end()
            Terminal.error("redial import: line \(number): at byte \(error.offset): \(error.reason)\n")
          }
          return failure == nil
        }
      } catch {
        try store.finish()
        throw StoreError(kind: .unavailable, message: error.message)
      }
      if let failure { throw failure }
      try store.finish()
      tally = store.tally
    } catch {
      throw CommandError(
        code: .unsuccessful, message: number == 0 ? error.message : "\(error.message) Up to line \(number) was read.")
    }
    progress.end()
    Terminal.write(
      "imported \(tally.imported) calls; \(tally.known) already existed, \(faults) lines are not calls\n")
    return faults == 0 ? .success : .unsuccessful
  }
}

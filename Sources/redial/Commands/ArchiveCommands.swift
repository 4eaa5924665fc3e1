import Glibc
internal import RedialModel
import RedialService
import RedialStore
import RedialJSON

extension Command {
  /// `redial export`
  static let export = Command(
    name: "export", summary: "Write a store as lines of JSON, which `redial import` reads.",
    options: StoreOption.any + [
      Option(name: "--calls", summary: "Only the calls, without keys, endpoints, policies, secrets and the like."),
      Option(
        name: "--state", form: "STATE", summary: "Only scheduled, running, succeeded, failed or cancelled calls.",
        values: .words(CallState.allCases.map(\.rawValue))),
      Option(name: "--output", short: "-o", form: "FILE", summary: "Write to this new file [standard output]."),
    ],
    notes: """
      A service can be running on the store. Each call is exported as it is at one moment, but calls differ in that moment; a
      backup (`redial backup`) has all of them as of one moment. Bodies are in base 64, times and durations in microseconds.
      Without --calls and --state the archive has the webhook secret, and the hashes of API keys.
      """
  ) { arguments throws(CommandError) in
    var state: CallState?
    if let text = arguments.value("--state") {
      state = CallState(rawValue: text)
      if state == nil { throw CommandError(code: .usage, message: "--state: \"\(text)\" is not the state of a call") }
    }
    let settings = try StoreOption.settings(arguments)
    let source = try ArchiveCommands.open { () throws(ServiceStartError) in try settings.openExport(in: state) }
    return try ArchiveCommands.export(
      source, hasItems: !arguments.has("--calls") && state == nil, to: arguments.value("--output"))
  }

  /// `redial import`
  static let importing = Command(
    name: "import", summary: "Import what `redial export` wrote into a store.",
    operands: "[FILE]", operandCount: 0...1, options: StoreOption.any,
    notes: """
      Without FILE it reads standard input. No service may be running on the store. What the store already has is not
      changed, so you can repeat an import that was interrupted. An invalid line is reported, and the others are imported.
      """
  ) { arguments throws(CommandError) in
    try ArchiveCommands.importing(arguments.operands.first, into: try StoreOption.settings(arguments))
  }
}

/// Writes stores to, and reads them from, lines of JSON.
enum ArchiveCommands {
  /// Maximum number of invalid lines that are reported one by one; the rest is counted.
  private static let maximumFaults = 100

  /// - Parameter hasItems: Whether the archive has all of the store, and not only calls.
  static func export(
    _ source: any ArchiveSource, hasItems: Bool, to output: String?, as name: String = "export"
  ) throws(CommandError) -> ExitCode {
    defer { source.close() }
    var lines = try LineWriter(output)
    var (totals, damaged) = (ArchiveLine.Totals(), 0)
    var progress = ProgressLine()
    // Output to a terminal itself shows the progress.
    let showsProgress = output != nil || !Terminal.isTerminal(STDOUT_FILENO)
    func report(_ error: StoreError) {
      damaged += 1
      progress.end()
      Terminal.error("redial \(name): \(error.message)\n")
    }
    var failure: CommandError?
    func write(_ line: ArchiveLine) -> Bool {
      guard failure == nil else { return false }
      do throws(CommandError) { try lines.write(line.json) } catch { failure = error }
      return failure == nil
    }
    do throws(StoreError) {
      if hasItems {
        _ = write(.header)
        for item in try source.items(damage: report) where write(.item(item)) { totals.items += 1 }
      }
      try source.forEach { call in
        guard write(.call(call)) else { return }
        totals.calls += 1
        if showsProgress { progress.show("\(totals.calls) calls exported") }
      } damage: { error in
        report(error)
      }
    } catch {
      throw CommandError(error)
    }
    if hasItems { _ = write(.end(totals)) }
    progress.end()
    if let failure { throw failure }
    try lines.finish()
    if let output {
      let others = hasItems ? " and \(totals.items) other entries" : ""
      Terminal.write("wrote \(totals.calls) calls\(others) to \(output)\n")
    }
    return damaged == 0 ? .success : .unsuccessful
  }

  static func importing(_ file: String?, into settings: ServiceSettings) throws(CommandError) -> ExitCode {
    var lines = try LineReader(file)
    let store = try open { () throws(ServiceStartError) in try settings.storeImport() }
    var found = ArchiveContent()
    var (faults, bytes) = (0, 0)
    let size = file.flatMap(FileReading.size)
    var progress = ProgressLine()
    defer { progress.end() }
    let tally: StoreImport.Tally
    func report(_ fault: String) {
      faults += 1
      guard faults <= Self.maximumFaults else { return }
      progress.end()
      Terminal.error("redial import: \(fault)\n")
    }
    do throws(StoreError) {
      var failure: StoreError?
      do throws(CommandError) {
        try lines.forEach { line in
          found.lines += 1
          bytes += line.count + 1
          progress.show((size.map { ProgressLine.bar(bytes, of: $0) + "  " } ?? "") + "\(found.lines) lines read")
          guard !line.isEmpty else { return true }
          do throws(JSONError) {
            let line = try ArchiveLine.read(line, at: WallClock.now)
            if let fault = found.add(line) { report(fault) }
            do throws(StoreError) { try store.add(line) } catch { failure = error }
          } catch {
            report("line \(found.lines): at byte \(error.offset): \(error.reason)")
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
      let read = found.lines == 0 ? "" : " Up to line \(found.lines) was read."
      throw CommandError(code: .unsuccessful, message: error.message + read)
    }
    if let fault = found.lack { report(fault) }
    progress.end()
    let others = found.hasHeader ? ", and \(tally.items) other entries" : ""
    Terminal.write(
      "imported \(tally.imported) calls\(others); \(tally.known) calls already existed, \(faults) lines are not valid\n"
    )
    return faults == 0 ? .success : .unsuccessful
  }

  /// Opens a store.
  static func open<Store>(_ body: () throws(ServiceStartError) -> Store) throws(CommandError) -> Store {
    do throws(ServiceStartError) {
      return try body()
    } catch {
      throw CommandError(code: .unsuccessful, message: error.message)
    }
  }
}

/// What of an archive was read, by which one that was cut off is noticed.
private struct ArchiveContent {
  var lines = 0
  private(set) var hasHeader = false
  private var totals = ArchiveLine.Totals()
  private var isEnded = false

  /// Counts a line. Returns what is wrong with what was before it, or nil.
  mutating func add(_ line: ArchiveLine) -> String? {
    switch line {
    case .header: hasHeader = true
    case .item: totals.items += 1
    case .call: totals.calls += 1
    case .end(let expected):
      isEnded = true
      if expected != totals {
        return "line \(lines): \(expected.calls) calls and \(expected.items) other entries were written, and there are "
          + "\(totals.calls) and \(totals.items)"
      }
    }
    return nil
  }

  /// What is wrong with its end, or nil.
  var lack: String? {
    hasHeader && !isEnded
      ? "the archive has no end after line \(lines), so it was cut off; export again, and import that" : nil
  }
}

extension StoreImport {
  fileprivate func add(_ line: ArchiveLine) throws(StoreError) {
    switch line {
    case .header, .end: break
    case .item(let item): try add(item)
    case .call(let call): try add(call)
    }
  }
}

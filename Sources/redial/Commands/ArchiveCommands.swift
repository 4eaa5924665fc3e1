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
      Option(name: "--decrypt", summary: "Write everything in clear, of a store with encryptionKeyFile."),
    ],
    notes: """
      A service can be running on the store. Each call is exported as it is at one moment, but calls differ in that moment; a
      backup (`redial backup`) has all of them as of one moment. Bodies are in base 64, times and durations in microseconds.
      Without --calls and --state the archive has the webhook secret, and the hashes of API keys. With encryptionKeyFile each line
      is encrypted, and `redial import` needs the same file.
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
      source, hasItems: !arguments.has("--calls") && state == nil, isPlain: arguments.has("--decrypt"),
      to: arguments.value("--output"))
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

  /// - Parameters:
  ///   - hasItems: Whether the archive has all of the store, and not only calls.
  ///   - isPlain: Whether nothing is encrypted.
  static func export(
    _ source: any ArchiveSource, hasItems: Bool, isPlain: Bool = false, to output: String?, as name: String = "export"
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
    var seal: ArchiveSeal?
    func write(_ line: ArchiveLine) -> Bool {
      guard failure == nil else { return false }
      do throws(CommandError) {
        guard !isPlain, source.vault.seals(line) else {
          try lines.write(line.json)
          return true
        }
        if seal == nil {
          do throws(StoreError) { seal = try source.vault.archiveSeal() } catch { throw CommandError(error) }
          if let key = seal?.key { try lines.write(ArchiveLine.key(key).json) }
        }
        if let line = seal?.line(line) { try lines.write(line) }
      } catch {
        failure = error
      }
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
    let reading = ArchiveImport(settings)
    var bytes = 0
    let size = file.flatMap(FileReading.size)
    var progress = ProgressLine()
    defer { progress.end() }
    func take(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
      bytes += line.count + 1
      progress.show((size.map { ProgressLine.bar(bytes, of: $0) + "  " } ?? "") + "\(reading.lines) lines read")
      guard let fault = reading.add(line) else { return reading.failure == nil }
      if reading.faults <= Self.maximumFaults {
        progress.end()
        Terminal.error("redial import: \(fault)\n")
      }
      return reading.failure == nil
    }
    do throws(CommandError) { try lines.forEach(take) } catch { reading.stop(error) }
    let tally = try reading.finish()
    progress.end()
    if let lack = reading.lack { Terminal.error("redial import: \(lack)\n") }
    var text = "imported \(tally.imported) calls"
    if tally.items + tally.knownItems > 0 { text += ", and \(tally.items) other entries" }
    text += "; \(tally.known) calls already existed"
    if tally.knownItems > 0 { text += ", and \(tally.knownItems) other entries" }
    Terminal.write("\(text), \(reading.faults) lines are not valid\n")
    return reading.faults == 0 && reading.lack == nil ? .success : .unsuccessful
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

/// An import that goes on: what was read of the archive, and the store, which is opened for its first valid line.
private final class ArchiveImport {
  private let settings: ServiceSettings
  private var store: StoreImport?
  private(set) var lines = 0
  private(set) var faults = 0
  /// Why it has ended early; nil while it goes on.
  private(set) var failure: CommandError?
  /// Whether the archive has more than calls, and so needs an end.
  private var isWhole = false
  private var totals = ArchiveLine.Totals()
  private var endLine: Int?
  private var opener: ArchiveOpener?

  init(_ settings: ServiceSettings) {
    self.settings = settings
  }

  /// Takes a line. Returns what is wrong with it, or with what was before it.
  func add(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
    lines += 1
    guard !bytes.isEmpty else { return nil }
    let line: ArchiveLine
    do throws(JSONError) {
      line = try ArchiveLine.read(bytes, at: WallClock.now, opener)
    } catch {
      faults += 1
      let fault = "line \(lines): at byte \(error.offset): \(error.reason)"
      if bytes.starts(with: Array(#"{"archive""#.utf8)) {
        // What follows may mean something else.
        failure = CommandError(code: .unsuccessful, message: "\(fault). Nothing of this archive was imported.")
        return nil
      }
      return fault
    }
    do throws(CommandError) { try put(line) } catch { failure = error }
    guard let fault = count(line) else { return nil }
    faults += 1
    return "line \(lines): \(fault)"
  }

  /// What is wrong with the end of the archive, or nil.
  var lack: String? {
    if lines == 0 { return "the archive is empty, as one is whose export failed; export again, and import that" }
    return isWhole && endLine == nil
      ? "the archive has no end after line \(lines), so it was cut off; export again, and import that" : nil
  }

  /// The archive cannot be read any further.
  func stop(_ error: CommandError) { failure = failure ?? error }

  /// Makes everything durable.
  func finish() throws(CommandError) -> StoreImport.Tally {
    do throws(StoreError) {
      if let failure {
        try store?.finish()
        let read = store == nil ? "" : " Up to line \(lines) was read."
        throw StoreError(kind: .unavailable, message: failure.message + read)
      }
      let store = try opened()
      try store.finish()
      return store.tally
    } catch {
      throw CommandError(error)
    }
  }

  private func opened() throws(StoreError) -> StoreImport {
    if let store { return store }
    do throws(ServiceStartError) {
      let new = try settings.storeImport()
      store = new
      return new
    } catch {
      throw StoreError(kind: .unavailable, message: error.message)
    }
  }

  private func opener(of key: StoredDataKey) throws(StoreError) -> ArchiveOpener {
    let vault: Vault
    do throws(ServiceStartError) {
      vault = try settings.vault()
    } catch {
      throw StoreError(kind: .unavailable, message: error.message)
    }
    return try vault.opener(of: key)
  }

  private func put(_ line: ArchiveLine) throws(CommandError) {
    do throws(StoreError) {
      switch line {
      case .header, .end: break
      case .key(let key): opener = try self.opener(of: key)
      case .item(let item): try opened().add(item)
      case .call(let call): try opened().add(call)
      }
    } catch {
      throw CommandError(error)
    }
  }

  private func count(_ line: ArchiveLine) -> String? {
    if case .header = line {
      let isCutOff = isWhole && endLine == nil
      (isWhole, endLine, totals) = (true, nil, ArchiveLine.Totals())
      return isCutOff ? "the archive before it has no end, so it was cut off" : nil
    }
    if case .key = line { return nil }
    if let endLine { return "it is behind the end of the archive in line \(endLine)" }
    switch line {
    case .header, .key: break
    case .item: (isWhole, totals.items) = (true, totals.items + 1)
    case .call: totals.calls += 1
    case .end(let expected):
      endLine = lines
      // A line that is not valid is missing here, too.
      if faults == 0, expected != totals {
        return "\(expected.calls) calls and \(expected.items) other entries were written, and there are "
          + "\(totals.calls) and \(totals.items)"
      }
    }
    return nil
  }
}

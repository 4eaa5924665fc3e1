import Glibc
import RedialCore
import RedialModel
import RedialService
import RedialStore
import RedialJSON

extension Command {
  /// `redial doctor`
  static let doctor = Command(
    name: "doctor", summary: "Check a store for errors; a service can be running on it.",
    options: StoreOption.any + [
      Option(
        name: "--quick",
        summary: "Leave out what takes longest: comparing indexes with tables (SQLite), reading bodies and counting "
          + "finished calls (PostgreSQL)."),
      Option(name: "--json", summary: "Show the report as JSON."),
    ],
    notes: """
      It only reads and does not block the service. Each number must be 0. overdue and stuck are checked only while a service
      is running. Warnings do not change the exit code. Exit codes of this command: 0 every number is 0; 1 one is not; 2 the
      store could not be checked.
      """
  ) { arguments throws(CommandError) in
    let settings = try StoreOption.settings(arguments)
    let report: StoreReport
    let libraries: [LinkedLibrary]
    do throws(Service.StartError) {
      report = try settings.inspectStore(quick: arguments.has("--quick"))
      libraries = try settings.libraries()
    } catch {
      throw CommandError(code: .usage, message: error.message)
    }
    Terminal.write(
      arguments.has("--json") ? DoctorCommand.json(report, libraries) : DoctorCommand.text(report, libraries))
    return report.isClean ? .success : .unsuccessful
  }
}

/// The report of a store, for people and for programs.
enum DoctorCommand {
  static func text(_ report: StoreReport, _ libraries: [LinkedLibrary]) -> String {
    let finished = report.usage.finished.reduce(0) { $0 + $1.count }
    var text =
      "\(report.place), \(report.isLive ? "of a running service" : "at rest"): \(report.calls) calls, "
      + "\(finished) of them finished; \(report.usage.usedBytes) bytes in use, \(report.usage.freeBytes) free\n"
    for finding in report.findings {
      text += "  \(RedialTool.padded(finding.check.rawValue, 18))\(finding.count)"
      text += finding.count == 0 ? "\n" : "  \(finding.check.meaning)\n"
      for example in finding.examples { text += "    \(example)\n" }
      let more = finding.count - finding.examples.count
      if more > 0 { text += "    and \(more) more\n" }
    }
    for warning in report.warnings { text += "warning \(warning.subject.rawValue): \(warning.text)\n" }
    for library in libraries where !library.faults.isEmpty {
      text += "library \(library):\n"
      for fault in library.faults { text += "  \(fault.sentence)\n" }
    }
    return text + (report.isClean ? "Nothing is wrong.\n" : "Something is wrong: every number should be 0.\n")
  }

  static func json(_ report: StoreReport, _ libraries: [LinkedLibrary]) -> String {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("store", report.place)
    writer.field("live", report.isLive)
    writer.field("clean", report.isClean)
    writer.field("calls", report.calls)
    writer.field("usedBytes", report.usage.usedBytes)
    writer.field("freeBytes", report.usage.freeBytes)
    writer.key("findings")
    writer.beginArray()
    for finding in report.findings {
      writer.beginObject()
      writer.field("check", finding.check.rawValue)
      writer.field("count", finding.count)
      writer.key("examples")
      writer.beginArray()
      for example in finding.examples { writer.string(example) }
      writer.endArray()
      writer.endObject()
    }
    writer.endArray()
    writer.key("warnings")
    writer.beginArray()
    for warning in report.warnings {
      writer.beginObject()
      writer.field("subject", warning.subject.rawValue)
      writer.field("text", warning.text)
      writer.endObject()
    }
    writer.endArray()
    writer.key("libraries")
    writer.beginArray()
    for library in libraries {
      writer.beginObject()
      writer.field("name", library.name.rawValue)
      writer.field("version", library.version)
      writer.key("faults")
      writer.beginArray()
      for fault in library.faults {
        writer.beginObject()
        writer.field("effect", fault.effect)
        writer.field("mendedIn", fault.mendedIn)
        writer.field("guardedBy", fault.guardedBy)
        writer.endObject()
      }
      writer.endArray()
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
    return String(decoding: writer.bytes, as: UTF8.self) + "\n"
  }
}

/// A fault of a library's older versions that calls or the store would suffer from.
///
/// What Redial ships is linked with versions that have none of these (`packaging/libraries`). A build for the system's own
/// libraries can have them.
package struct LibraryFault: Sendable, Hashable {
  package let library: LinkedLibrary.Name
  /// What happens, as the end of a sentence.
  package let effect: String
  /// The first version without it.
  package let mendedIn: String
  /// The first versions of older lines without it, each for its own line: `3.50.7` for 3.50.
  package var alsoMendedIn: [String] = []
  /// What keeps it from happening; nil for nothing.
  package let guardedBy: String?

  /// All that are known.
  package static let all: [LibraryFault] = [
    LibraryFault(
      library: .libcurl, effect: "a response that begins with a blank ends the process", mendedIn: "8.21.0",
      guardedBy: "no attempt begins with what an earlier response left"),
    LibraryFault(
      library: .libcurl, effect: "an HTTP/2 response whose header is over 16 KiB can time out", mendedIn: "8.21.0",
      guardedBy: "as much as a header may have is read at once"),
    LibraryFault(
      library: .libcurl, effect: "the next address of a host is not tried while the first does not answer",
      mendedIn: "8.21.0", guardedBy: "after a timeout the next attempt begins with another one"),
    LibraryFault(
      library: .libcurl, effect: "an HTTP/2 response before the end of its request's body can be lost",
      mendedIn: "8.21.0", guardedBy: "the next attempt is over HTTP/1.1"),
    LibraryFault(
      library: .libcurl, effect: "a body that ends with its TLS connection can be cut unnoticed", mendedIn: "8.21.0",
      guardedBy: "the target's word for the end of what it sends is awaited"),
    // sqlite.org/wal.html#walresetbug
    LibraryFault(
      library: .sqlite, effect: "a commit while another connection begins a checkpoint can damage the file",
      mendedIn: "3.51.3", alsoMendedIn: ["3.44.6", "3.50.7"],
      guardedBy: "no checkpoint begins on a log that a commit could start again; no other program may make one"),
  ]

  /// Whether a library has it.
  func concerns(_ linked: LinkedLibrary) -> Bool {
    guard linked.name == library else { return false }
    let version = Self.numbers(linked.version)
    let isMended =
      !version.lexicographicallyPrecedes(Self.numbers(mendedIn))
      || alsoMendedIn.contains { text in
        let first = Self.numbers(text)
        return version.prefix(2) == first.prefix(2) && !version.lexicographicallyPrecedes(first)
      }
    return !isMended
  }

  /// The fault as a sentence, and what is done about it.
  package var sentence: String {
    "In \(library.rawValue) before \(mendedIn) \(effect). " + (guardedBy.map { "Guarded: \($0)." } ?? "Not guarded.")
  }

  /// The numbers of a version, without what may stand behind them: `8.21.0-DEV`.
  private static func numbers(_ version: String) -> [Int] {
    version.prefix { $0.isNumber || $0 == "." }.split(separator: ".").map { Int($0) ?? 0 }
  }
}

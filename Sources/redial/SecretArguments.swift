import Glibc
import RedialService

/// Hides secrets of the command line from the list of processes, which every user of the machine can read.
///
/// Between the start of the process and this they can be seen, so a file or an environment variable is better.
enum SecretArguments {
  /// The flags whose values are secrets.
  private static let flags = Set(
    Setting.all.lazy.filter(\.isSecret).map(\.flag) + ["--api-key", "--slack", "--teams", "--pager-duty"])

  /// Overwrites the secrets in the process's own arguments. `CommandLine.arguments` must have been read before: it is a
  /// copy, made at its first use.
  static func hide() {
    // The kernel shows the memory that this points to, as long as the process lives; it is changed in place, and only
    // here, before there is a second thread.
    let arguments = CommandLine.unsafeArgv
    var isSecret = false
    for place in 1..<max(1, Int(CommandLine.argc)) {
      guard let start = arguments[place] else { return }
      let text = String(cString: start)
      for range in ranges(in: text, isSecret: isSecret) {
        memset(start + range.lowerBound, CInt(UInt8(ascii: "x")), range.count)
      }
      isSecret = flags.contains(text)
    }
  }

  /// The bytes of an argument that are to be hidden.
  ///
  /// - Parameter isSecret: Whether the argument before is the flag of a secret.
  static func ranges(in argument: String, isSecret: Bool) -> [Range<Int>] {
    let bytes = Array(argument.utf8)
    if isSecret { return [0..<bytes.count] }
    if let equals = bytes.firstIndex(of: UInt8(ascii: "=")),
      flags.contains(String(decoding: bytes[..<equals], as: UTF8.self))
    {
      return [equals + 1..<bytes.count]
    }
    var hidden: [Range<Int>] = []
    if let password = password(inURL: bytes) { hidden.append(password) }
    // libpq reads a password from the query too.
    let name = Array("password=".utf8)
    for start in bytes.indices where bytes[start...].starts(with: name) {
      let from = start + name.count
      hidden.append(from..<(bytes[from...].firstIndex { "&# ".utf8.contains($0) } ?? bytes.count))
    }
    return hidden
  }

  /// The password of `scheme://user:password@host`.
  private static func password(inURL bytes: [UInt8]) -> Range<Int>? {
    let mark = Array("://".utf8)
    guard let scheme = bytes.indices.first(where: { bytes[$0...].starts(with: mark) }) else { return nil }
    let start = scheme + mark.count
    let end = bytes[start...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.count
    guard let at = bytes[start..<end].lastIndex(of: UInt8(ascii: "@")),
      let colon = bytes[start..<at].firstIndex(of: UInt8(ascii: ":"))
    else { return nil }
    return colon + 1..<at
  }
}

import Glibc

/// Text for the person, or the program, at the other end.
enum Terminal {
  static func write(_ text: String) { put(text, STDOUT_FILENO) }
  static func error(_ text: String) { put(text, STDERR_FILENO) }

  private static func put(_ text: String, _ descriptor: Int32) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      // Nobody reads any more: there is nobody to tell.
      guard written > 0 || errno == EINTR else { return }
      if written > 0 { rest = rest.dropFirst(written) }
    }
  }
}

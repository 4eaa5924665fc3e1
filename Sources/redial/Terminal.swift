import Glibc

/// Text for the reader of the output, a person or a program.
enum Terminal {
  /// Writes the output of a command to standard output.
  ///
  /// Requested output is never lost silently: if it cannot be written, the process ends here, as
  /// ``endAfterFailedWrite()`` describes.
  static func write(_ text: String) {
    if !put(Array(text.utf8), STDOUT_FILENO) { endAfterFailedWrite() }
  }

  /// Writes messages of a server to standard output. A server continues if nobody reads them.
  static func announce(_ text: String) { _ = put(Array(text.utf8), STDOUT_FILENO) }

  /// Writes a message to standard error; if that fails, there is no other place for it.
  static func error(_ text: String) { _ = put(Array(text.utf8), STDERR_FILENO) }

  /// Ends the process if nobody reads standard output any more, even without output.
  static func endIfNobodyReads() {
    var wanted = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
    if poll(&wanted, 1, 0) == 1, wanted.revents & Int16(POLLERR) != 0 { exit(brokenPipeStatus) }
  }

  /// Writes all bytes, and waits for a slow reader.
  ///
  /// - Returns: Whether it succeeded; if not, `errno` has the reason.
  static func put(_ bytes: [UInt8], _ descriptor: Int32) -> Bool {
    var offset = 0
    while offset < bytes.count {
      let written = bytes.withUnsafeBytes {
        Glibc.write(descriptor, $0.baseAddress?.advanced(by: offset), $0.count - offset)
      }
      if written > 0 {
        offset += written
      } else if written < 0, errno == EAGAIN {
        // Another process made the descriptor, which it shares, non-blocking.
        var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard poll(&wanted, 1, -1) >= 0 || errno == EINTR else { return false }
      } else if written == 0 || errno != EINTR {
        return false
      }
    }
    return true
  }

  /// The exit code of a program that SIGPIPE ended in a shell (128 + 13), so that `set -o pipefail` sees the usual
  /// value.
  private static let brokenPipeStatus: Int32 = 128 + SIGPIPE

  /// Ends the process after a failed write to standard output: silently if nobody reads it any more, as in `redial list
  /// | head -1`; with exit code 1 and the reason if output is lost, as on a full disk.
  static func endAfterFailedWrite() -> Never {
    let reason = errno
    if reason == EPIPE { exit(brokenPipeStatus) }
    error("redial: cannot write standard output: \(String(cString: strerror(reason)))\n")
    exit(ExitCode.unsuccessful.rawValue)
  }
}

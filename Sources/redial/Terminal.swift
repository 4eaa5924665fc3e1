import Glibc

/// Text for the person, or the program, at the other end.
enum Terminal {
  /// Writes what the command was asked for to standard output.
  ///
  /// Nothing that is asked for gets lost silently: when it cannot be written, the process ends here, as
  /// ``endAfterFailedWrite()`` says.
  static func write(_ text: String) {
    if !put(Array(text.utf8), STDOUT_FILENO) { endAfterFailedWrite() }
  }

  /// Tells on standard output what a server does. One that serves goes on when nobody reads that.
  static func announce(_ text: String) { _ = put(Array(text.utf8), STDOUT_FILENO) }

  /// Tells something on standard error; where that cannot be written, there is nowhere to say so.
  static func error(_ text: String) { _ = put(Array(text.utf8), STDERR_FILENO) }

  /// Ends the process when nobody reads standard output any more, though there is nothing to write just now.
  static func endIfNobodyReads() {
    var wanted = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
    if poll(&wanted, 1, 0) == 1, wanted.revents & Int16(POLLERR) != 0 { exit(brokenPipeStatus) }
  }

  /// Writes bytes whole, and waits where the other end is slow.
  ///
  /// - Returns: Whether it could; if not, `errno` says why.
  static func put(_ bytes: [UInt8], _ descriptor: Int32) -> Bool {
    var offset = 0
    while offset < bytes.count {
      let written = bytes.withUnsafeBytes {
        Glibc.write(descriptor, $0.baseAddress?.advanced(by: offset), $0.count - offset)
      }
      if written > 0 {
        offset += written
      } else if written < 0, errno == EAGAIN {
        // Somebody else made the descriptor non-blocking, which it shares with us.
        var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard poll(&wanted, 1, -1) >= 0 || errno == EINTR else { return false }
      } else if written == 0 || errno != EINTR {
        return false
      }
    }
    return true
  }

  /// What a shell says of a program that SIGPIPE ended (128 + 13), so that `set -o pipefail` sees what it is used to.
  private static let brokenPipeStatus: Int32 = 128 + SIGPIPE

  /// Ends the process after standard output could not be written: quietly when nobody reads it any more, as in
  /// `redial list | head -1`; with exit code 1 and the reason when it is lost, as on a full disk.
  static func endAfterFailedWrite() -> Never {
    let reason = errno
    if reason == EPIPE { exit(brokenPipeStatus) }
    error("redial: cannot write standard output: \(String(cString: strerror(reason)))\n")
    exit(ExitCode.unsuccessful.rawValue)
  }
}

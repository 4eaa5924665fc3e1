internal import Glibc

/// A program that wraps or unwraps one key, in a process group of its own.
struct KeyProcess {
  /// Why it could not be started.
  struct Failure: Error {
    let reason: String

    init(code: Int32) { reason = String(cString: strerror(code)) }
  }

  /// The result.
  enum End {
    /// It has ended, with this wait status, and has printed this.
    case ended(status: Int32, output: [UInt8])
    case late
    case tooMuch
  }

  /// The maximum number of bytes that it may print.
  static let largestOutput = 1 << 16
  /// The time between two looks whether it has ended. Its output is waited for meanwhile.
  private static let look = Duration.milliseconds(5)

  private let process: pid_t
  /// The reading end of its output.
  private let output: Int32

  /// Starts it.
  ///
  /// - Parameter input: What it gets on its standard input, at most as much as a pipe takes.
  init(_ program: String, _ argument: String, _ input: [UInt8]) throws(Failure) {
    var (given, printed): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
    defer { for end in given + [printed[1]] where end >= 0 { close(end) } }
    guard pipe(&given) == 0, pipe(&printed) == 0 else { throw Failure(code: errno) }
    for end in given + printed { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    // It fits the pipe, so nothing waits here; and a program that does not read cannot end this one by a signal.
    _ = write(given[1], input, input.count)
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, given[0], 0)
    posix_spawn_file_actions_adddup2(&actions, printed[1], 1)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // A group of its own can be killed as a whole. The signals that the service blocks are not blocked there.
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP) | Int16(POSIX_SPAWN_SETSIGMASK))
    var arguments = [strdup(program), strdup(argument), nil]
    defer { for argument in arguments { free(argument) } }
    var process: pid_t = 0
    let result = posix_spawn(&process, program, &actions, &attributes, &arguments, environ)
    guard result == 0 else {
      close(printed[0])
      throw Failure(code: result)
    }
    self.process = process
    output = printed[0]
    _ = fcntl(output, F_SETFL, O_NONBLOCK)
  }

  /// Waits for its end, and kills it and all that it has started if that comes too late. What it leaves running when it
  /// ends by itself is not waited for, even if that keeps the output open.
  func end(within limit: Duration) -> End {
    defer { close(output) }
    let deadline = ContinuousClock.now + limit
    var printed: [UInt8] = []
    var isOpen = true
    while true {
      // In this order: what it has printed before its end is in the pipe then.
      let hasEnded = self.hasEnded
      if isOpen { isOpen = read(into: &printed) }
      if printed.count > Self.largestOutput {
        kill()
        return .tooMuch
      }
      if hasEnded {
        var status: Int32 = 0
        waitpid(process, &status, 0)
        return .ended(status: status, output: printed)
      }
      guard ContinuousClock.now < deadline else {
        kill()
        return .late
      }
      var watched = pollfd(fd: isOpen ? output : -1, events: Int16(POLLIN), revents: 0)
      poll(&watched, 1, Int32(Self.look.components.attoseconds / 1_000_000_000_000_000))
    }
  }

  /// Whether it has ended. Its number stays its own until it is waited for.
  private var hasEnded: Bool {
    var information = siginfo_t()
    let result = waitid(P_PID, id_t(process), &information, Int32(WEXITED) | Int32(WNOHANG) | Int32(WNOWAIT))
    // Without a child of this number nobody can wait for it any more.
    return result != 0 || information.si_signo == SIGCHLD
  }

  /// Reads what there is. Returns whether more may come.
  private func read(into printed: inout [UInt8]) -> Bool {
    var piece = [UInt8](repeating: 0, count: 4096)
    while printed.count <= Self.largestOutput {
      let count = Glibc.read(output, &piece, piece.count)
      if count > 0 {
        printed += piece[..<count]
      } else if count == 0 {
        return false
      } else if errno != EINTR {
        return errno == EAGAIN
      }
    }
    return true
  }

  private func kill() {
    // The group has its number: its first process is not waited for yet.
    Glibc.kill(-process, SIGKILL)
    waitpid(process, nil, 0)
  }
}

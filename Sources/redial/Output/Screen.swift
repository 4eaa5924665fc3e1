import Dispatch
import Glibc
import Synchronization

/// The whole terminal, for output that is drawn again and again.
///
/// It uses the terminal's second screen, so that the first one is as it was when this ends, in whatever way: by Ctrl-C,
/// Ctrl-\, SIGTERM or SIGHUP, or for a while by Ctrl-Z. A thread waits for these signals, so that none has to wait until a
/// request has ended.
final class Screen: Sendable {
  private struct State {
    var lines: [StyledLine] = []
    var isOpen = false
  }

  /// What is used if the terminal does not say its size.
  private static let usualSize = (rows: 24, columns: 80)
  private static let signals = [SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGTSTP, SIGWINCH]

  private let state = Mutex(State())

  /// Takes the terminal. No other thread may have been created before, because it could get the signals.
  init() {
    var blocked = Self.signalSet
    pthread_sigmask(SIG_BLOCK, &blocked, nil)
    open()
    DispatchQueue(label: "redial.signals").async { [self] in handleSignals() }
  }

  /// Shows lines in place of those before; what does not fit is cut off at the bottom.
  func show(_ lines: [StyledLine]) {
    state.withLock { state in
      state.lines = lines
      if state.isOpen { Self.draw(lines) }
    }
  }

  /// Gives the terminal back.
  func close() {
    state.withLock { state in
      guard state.isOpen else { return }
      state.isOpen = false
      Terminal.announce("\u{1B}[?25h\u{1B}[?1049l")
    }
  }

  private func open() {
    state.withLock { state in
      state.isOpen = true
      Terminal.announce("\u{1B}[?1049h\u{1B}[?25l\u{1B}[2J")
      Self.draw(state.lines)
    }
  }

  private static var signalSet: sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in signals { sigaddset(&set, signal) }
    return set
  }

  private func handleSignals() {
    var set = Self.signalSet
    while true {
      var received: Int32 = 0
      guard sigwait(&set, &received) == 0 else { continue }
      switch received {
      case SIGWINCH: state.withLock { if $0.isOpen { Self.draw($0.lines) } }
      case SIGTSTP:
        close()
        kill(getpid(), SIGSTOP)
        open()
      default:
        close()
        // It ends by the signal, so that a shell sees why, and a script that called it stops too.
        var one = sigset_t()
        sigemptyset(&one)
        sigaddset(&one, received)
        signal(received, SIG_DFL)
        pthread_sigmask(SIG_UNBLOCK, &one, nil)
        kill(getpid(), received)
      }
    }
  }

  private static func draw(_ lines: [StyledLine]) {
    let (rows, columns) = size
    let fitting = lines.flatMap { $0.wrapped(to: columns) }
    var text = "\u{1B}[H"
    for (index, line) in fitting.prefix(rows).enumerated() {
      let isCut = index == rows - 1 && fitting.count > rows
      // Without a line feed behind the last one, which would scroll.
      text += (index > 0 ? "\r\n" : "") + (isCut ? "…" : line.shown(Terminal.styled)) + "\u{1B}[K"
    }
    Terminal.announce(text + "\u{1B}[J")
  }

  private static var size: (rows: Int, columns: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0, size.ws_col > 0 else { return usualSize }
    return (Int(size.ws_row), Int(size.ws_col))
  }
}

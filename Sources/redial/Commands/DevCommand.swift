import Dispatch
import Glibc
import HTTPServer
import RedialCore
import RedialModel
import RedialService

extension Command {
  /// `redial dev`
  static let dev = Command(
    name: "dev", summary: "Run the service, a target that fails on purpose, and the dashboard, to try things out.",
    options: [
      Option(name: "--memory", summary: "Keep nothing: the data is gone when it stops."),
      Option(
        name: "--store", form: "sqlite:PATH", summary: "Where calls are stored [redial/dev.db in your data folder]."),
      Option(name: "--listen", form: "HOST:PORT", summary: "Address of the service [127.0.0.1:8080, or a free port]."),
      Option(name: "--demo", summary: "Submit a first call, and show its attempts."),
      Option(name: "--no-open", summary: "Do not open the dashboard in a browser."),
    ],
    notes: """
      It uses no setting of the environment and no config file. `redial serve` is the service for everything else.
      SIGTERM or Ctrl-C stops all of it.
      """
  ) { arguments throws(CommandError) in
    try DevCommand(arguments).run()
  }
}

/// A service for one person, with something to call.
struct DevCommand {
  private let arguments: Arguments
  /// The folder that is removed at the end; nil if the data is kept.
  private let passing: String?
  /// The folder of the data; empty if the store is given.
  private let folder: String

  init(_ arguments: Arguments) throws(CommandError) {
    self.arguments = arguments
    if arguments.has("--memory") {
      guard !arguments.has("--store") else {
        throw CommandError(code: .usage, message: "--memory keeps nothing, so it does not go with --store")
      }
      folder = try Self.makePassingFolder()
      passing = folder
    } else {
      folder = arguments.has("--store") ? "" : try Self.dataFolder()
      passing = nil
    }
  }

  func run() throws(CommandError) -> ExitCode {
    defer { if let passing { Self.remove(passing) } }
    let stop = StopSignals()
    let target = try startTarget()
    defer { target.stop() }
    let service = try startService()
    defer { service.stop() }
    let (url, targetURL) = (service.urls[0], target.urls[0])
    Terminal.announce(greeting(service, url, targetURL))
    if !arguments.has("--no-open") { Self.openBrowser(url + "/") }
    let submit = { @Sendable in
      _ = RedialTool.run(["call", "--server", url, "--label", "from=redial-dev", targetURL + "/hello?fail=2"])
    }
    let isDemo = arguments.has("--demo")
    DispatchQueue.global().async {
      if isDemo { submit() }
      guard Terminal.isTerminal(STDIN_FILENO) else { return }
      while readLine() != nil { submit() }
    }
    stop.wait()
    return .success
  }

  /// The service, on another port if that of the default is taken.
  private func startService() throws(CommandError) -> Service {
    var settings = try settings()
    if !arguments.has("--listen") {
      if let service = try? Service(settings: settings) { return service }
      settings.listen = .tcp(host: "127.0.0.1", port: 0)
    }
    do throws(Service.StartError) {
      return try Service(settings: settings)
    } catch {
      throw CommandError(code: .unreachable, message: error.message)
    }
  }

  private func startTarget() throws(CommandError) -> HTTPServer {
    if let target = try? Self.target(port: 9090) { return target }
    do throws(HTTPServerError) {
      return try Self.target(port: 0)
    } catch {
      throw CommandError(code: .unreachable, message: error.description)
    }
  }

  private static func target(port: Int) throws(HTTPServerError) -> HTTPServer {
    let target = HTTPServer(
      configuration: HTTPServerConfiguration(address: .tcp(host: "127.0.0.1", port: port)),
      handler: FlakyServer(FlakyBehaviour(), isQuiet: true))
    try target.start()
    return target
  }

  private func settings() throws(CommandError) -> ServiceSettings {
    var settings = ServiceSettings()
    settings.logLevel = .error
    settings.listen = .tcp(host: "127.0.0.1", port: 8080)
    if let text = arguments.value("--listen") {
      guard let address = ListenAddress(text), case .tcp = address else {
        throw CommandError(code: .usage, message: "--listen: \"\(text)\" is not HOST:PORT")
      }
      settings.listen = address
    }
    if let store = arguments.value("--store") {
      guard store.hasPrefix("sqlite:") else {
        throw CommandError(
          code: .usage, message: "--store: \"\(store)\" is not sqlite:PATH; `redial serve` takes databases")
      }
      settings.store = store
    } else {
      settings.store = "sqlite://\(folder)/dev.db"
    }
    // In a container /dev/shm often has 64 MiB, as much as the default would reserve.
    if passing != nil { settings.reserveBytes = 1 << 20 }
    return settings
  }

  private func greeting(_ service: Service, _ url: String, _ target: String) -> String {
    let data = passing == nil ? service.dataPath : "in memory, gone when it stops"
    let first =
      Terminal.isTerminal(STDIN_FILENO)
      ? "Press Enter to submit a call that fails twice."
      : "Try: curl --json '{\"url\": \"\(target)/hello?fail=2\"}' \(url)/v1/calls"
    return """
      Redial \(redialVersion), to try things out; Ctrl-C stops all of it
      service    \(url)
      dashboard  \(url)/
      target     \(target), which fails on purpose: /hello?fail=2 fails twice
      data       \(data)
      \(first)

      """
  }

  // MARK: The machine

  /// The user's folder for data (XDG Base Directory Specification), made if there is none.
  private static func dataFolder() throws(CommandError) -> String {
    let home = Environment.value("HOME").map { $0 + "/.local/share" }
    let given = Environment.value("XDG_DATA_HOME").flatMap { $0.isEmpty ? nil : $0 }
    guard let base = given ?? home, base.hasPrefix("/") else {
      throw CommandError(code: .usage, message: "there is no HOME for the data: give --store sqlite:PATH, or --memory")
    }
    var path = ""
    for part in (base + "/redial").split(separator: "/") {
      path += "/" + part
      guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
        let reason = String(cString: strerror(errno))
        throw CommandError(code: .unreachable, message: "cannot make the folder \(path): \(reason)")
      }
    }
    return path
  }

  /// A folder in memory, or where that is missing, one for passing files.
  private static func makePassingFolder() throws(CommandError) -> String {
    let base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
    let name = strdup("\(base)/redial-dev-XXXXXX")
    defer { free(name) }
    guard let name, mkdtemp(name) != nil else {
      let reason = String(cString: strerror(errno))
      throw CommandError(code: .unreachable, message: "cannot make a folder in \(base): \(reason)")
    }
    return String(cString: name)
  }

  /// Removes a folder of files.
  private static func remove(_ folder: String) {
    if let stream = opendir(folder) {
      while let entry = readdir(stream) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        unlink("\(folder)/\(name)")
      }
      closedir(stream)
    }
    rmdir(folder)
  }

  /// Shows a page, if somebody sits in front of this machine.
  private static func openBrowser(_ url: String) {
    let hasScreen = Environment.value("DISPLAY") != nil || Environment.value("WAYLAND_DISPLAY") != nil
    guard hasScreen, Terminal.isTerminal(STDOUT_FILENO) else { return }
    var files = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&files)
    defer { posix_spawn_file_actions_destroy(&files) }
    for descriptor in [STDOUT_FILENO, STDERR_FILENO] {
      posix_spawn_file_actions_addopen(&files, descriptor, "/dev/null", O_WRONLY, 0)
    }
    var (process, words) = (pid_t(), [strdup("xdg-open"), strdup(url), nil])
    defer { for word in words { free(word) } }
    // Where there is no such program, the address is on the screen.
    _ = posix_spawnp(&process, "xdg-open", &files, nil, &words, environ)
  }
}

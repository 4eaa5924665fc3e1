import HTTPServer
import RedialCore
import RedialModel
import RedialService

extension Command {
  /// `redial serve`
  static let serve = Command(
    name: "serve", summary: "Run the service.",
    options: [
      Option(name: "--config", form: "FILE", summary: "Config file: settings in a JSON object [REDIAL_CONFIG]."),
      Option(name: "--print-config", summary: "Show each setting, its value and where that came from, and exit."),
    ]
      + SettingGroup.allCases.flatMap { group in
        group.settings.map { setting in
          let byDefault = setting.defaultText.isEmpty ? "none" : setting.defaultText
          return Option(
            name: setting.flag, form: setting.form,
            summary: "\(setting.summary) [\(setting.variable); \(byDefault)]", isRare: !setting.isCommon,
            heading: "\(group.title) (\"\(group.rawValue)\" in the config file)",
            values: ValueKind(form: setting.form))
        }
      },
    notes:
      "A flag comes before the environment variable, and that before the config file. After each option stand its\n"
      + "environment variable and its default. In the config file settings are in groups:\n"
      + "{\"store\": {\"retentionTime\": \"3d\"}, \"breaker\": {\"window\": \"30s\"}}\n"
      + "The other commands send the API key in REDIAL_API_KEY.\n"
      + "If the service manager passes listening sockets (LISTEN_FDS), the service uses them in place of --listen.\n"
      + "SIGTERM or SIGINT stops the service when the attempts in flight have ended; a second one stops it at once."
  ) { arguments throws(CommandError) in
    let loaded = try ServeCommand.load(arguments)
    if arguments.has("--print-config") {
      Terminal.write(loaded.description)
      return .success
    }
    return try ServeCommand.serve(loaded.settings)
  }

  /// `redial webhook-secret`
  static let webhookSecret = Command(
    name: "webhook-secret", summary: "Show the secret that the callbacks of calls are signed with.",
    options: StoreOption.options + APIClient.options,
    notes: """
      With --server or REDIAL_SERVER it asks a running service, which takes an admin key once there are keys. With --store or
      --config, or without any of these, it reads the store, whether a service is running on it or not, and never makes one.
      Each namespace has its own secret.
      """
  ) { arguments throws(CommandError) in
    let namesStore = arguments.has("--store") || arguments.has("--config")
    if arguments.has("--server") || (!namesStore && APIClient.serverOfEnvironment != nil) {
      guard !namesStore else {
        throw CommandError(
          code: .usage, message: "--server asks a service, --store and --config read a store; give one of them")
      }
      let answer = try APIClient(arguments).request("GET", "/v1/webhook-secret")
      guard let secret = answer.json["secret"].escapedText else {
        throw CommandError(code: .unreachable, message: "the service does not answer like Redial")
      }
      Terminal.write(secret + "\n")
      return .success
    }
    let settings = try StoreOption.settings(arguments)
    let name = arguments.value("--namespace") ?? Environment.value("REDIAL_NAMESPACE") ?? ""
    guard let namespace = name.isEmpty ? .default : Namespace(name) else {
      throw CommandError(code: .usage, message: "--namespace \(Namespace.rule), and is \"\(name)\"")
    }
    do throws(Service.StartError) {
      Terminal.write(try Service.webhookSecret(settings, of: namespace) + "\n")
    } catch {
      throw CommandError(code: .unreachable, message: error.message)
    }
    return .success
  }

  /// `redial health`
  static let health = Command(
    name: "health", summary: "Check that the service is alive; for health checks of containers.",
    options: APIClient.options,
    notes: """
      Without --server and REDIAL_SERVER it uses the address in REDIAL_LISTEN, if that is set. A service that does not answer
      within 5 seconds is not alive.
      """
  ) { arguments throws(CommandError) in
    var client = APIClient(arguments)
    if !arguments.has("--server"), APIClient.serverOfEnvironment == nil,
      let listen = Environment.value("REDIAL_LISTEN"), let address = ListenAddress(listen)
    {
      client = APIClient(listening: address)
    }
    let answer = try client.exchange("GET", "/healthz", within: .seconds(5))
    if (300...399).contains(answer.status) { try answer.requireSuccess(from: client.base) }
    Terminal.write(PlainText.escaped(String(decoding: answer.body, as: UTF8.self), keepsLines: true))
    return answer.status == 200 ? .success : .unsuccessful
  }

  /// `redial version`
  static let version = Command(
    name: "version", summary: "Show the version.",
    options: [
      Option(name: "--verbose", summary: "Also show the libraries that it runs with, and known faults of older ones.")
    ]
  ) { arguments throws(CommandError) in
    var text = "redial \(redialVersion)\n"
    if arguments.has("--verbose") {
      for library in LinkedLibrary.all {
        text += "\(library)\n"
        for fault in library.faults { text += "  \(fault.sentence)\n" }
      }
    }
    Terminal.write(text)
    return .success
  }
}

/// Runs the service as a process.
enum ServeCommand {
  static func load(_ arguments: Arguments) throws(CommandError) -> LoadedSettings {
    var flags: [String: String] = [:]
    for setting in Setting.all { flags[setting.key] = arguments.value(setting.flag) }
    do throws(SettingsFault) {
      return try LoadedSettings.load(
        flags: flags, environment: Environment.all,
        file: arguments.value("--config") ?? Environment.value("REDIAL_CONFIG"))
    } catch {
      throw CommandError(code: .usage, message: error.message)
    }
  }

  static func serve(_ settings: ServiceSettings) throws(CommandError) -> ExitCode {
    var settings = settings
    do throws(HTTPServerError) {
      let inherited = try InheritedSocket.takeFromEnvironment()
      if !inherited.isEmpty { settings.listen = .inherited(inherited) }
    } catch {
      throw CommandError(code: .usage, message: error.description)
    }
    let stop = StopSignals()
    let service: Service
    do throws(Service.StartError) {
      service = try Service(settings: settings)
    } catch {
      throw CommandError(code: .unreachable, message: error.message)
    }
    Terminal.announce(greeting(service))
    stop.wait()
    service.stop()
    return .success
  }

  private static func greeting(_ service: Service) -> String {
    let redial = CommandLine.arguments.first ?? "redial"
    let url = service.urls.first ?? APIClient.defaultURL
    var curl = "\(url)/v1/calls"
    if case .unix(let path) = ListenAddress(url) { curl = "--unix-socket \(path) http://localhost/v1/calls" }
    let isHere = redial.contains("/") && !redial.hasPrefix("/")
    let dashboard = curl.hasPrefix("--unix") ? "" : "The dashboard is at \(url)/\n"
    let option = url == APIClient.defaultURL ? "" : " --server \(url)"
    let place = """
      Redial \(redialVersion) listens on \(service.urls.joined(separator: ", "))
      Data is in \(service.dataPath)
      \(dashboard)
      """
    // Elsewhere the commands would be refused: because they need a key, or because calls to this machine are not allowed.
    guard service.isForThisMachine else { return place }
    return place + """
      Try, in another terminal\(isHere ? ", in this folder" : ""):
        \(redial) flaky --quiet &
        \(redial) call\(option) 'http://127.0.0.1:9090/hello?fail=2'
        curl -s --json '{"url": "http://127.0.0.1:9090/hello?fail=2"}' \(curl)

      """
  }
}

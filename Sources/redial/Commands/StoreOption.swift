import RedialModel
import RedialService
import RedialStore

/// The store of a command that uses it and not the service.
enum StoreOption {
  /// For a command that reads the file of an SQLite store.
  static let options = list(
    "sqlite:PATH", "The store [REDIAL_STORE, or as in the config file; sqlite:data/redial.db].")
  /// For a command that works on any store.
  static let any = list(
    "STORE", "The store, sqlite:PATH or postgresql://… [REDIAL_STORE, or as in the config file; sqlite:data/redial.db]."
  )

  private static func list(_ form: String, _ summary: String) -> [Command.Option] {
    [
      Command.Option(name: "--store", form: form, summary: summary),
      config,
    ]
  }

  static let config = Command.Option(
    name: "--config", form: "FILE", summary: "The config file of the service [REDIAL_CONFIG].")

  /// The settings of the store's service.
  ///
  /// - Parameter option: The option with the store.
  static func settings(
    _ arguments: Arguments, of option: String = "--store"
  ) throws(CommandError) -> ServiceSettings {
    try settings(arguments, store: arguments.value(option))
  }

  /// The same, of a store that is named; nil for that of the environment or of the config file.
  static func settings(_ arguments: Arguments, store: String?) throws(CommandError) -> ServiceSettings {
    var flags: [String: String] = [:]
    flags["store"] = store
    do throws(SettingsFault) {
      return try LoadedSettings.load(
        flags: flags, environment: Environment.all,
        file: arguments.value("--config") ?? Environment.value("REDIAL_CONFIG")
      ).settings
    } catch {
      throw CommandError(code: .usage, message: error.message)
    }
  }

  /// The store's file; nil if it is a database.
  static func file(_ settings: ServiceSettings) throws(CommandError) -> String? {
    do throws(StoreLocation.Invalid) {
      guard case .sqlite(let path) = try StoreLocation(settings.store) else { return nil }
      return path
    } catch {
      throw CommandError(code: .usage, message: error.message)
    }
  }

  /// The store's file.
  static func path(_ settings: ServiceSettings) throws(CommandError) -> String {
    guard let path = try file(settings) else {
      throw CommandError(
        code: .usage,
        message: "This command reads the file of an SQLite store, and \(Redaction.place(settings.store)) is a "
          + "database. Use PostgreSQL's own tools, such as pg_dump; see docs/replicas.md.")
    }
    return path
  }

  /// The same, from the arguments.
  static func path(_ arguments: Arguments) throws(CommandError) -> String {
    try path(try settings(arguments))
  }
}

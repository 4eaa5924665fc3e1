import RedialService

extension Command {
  /// `redial make-tables`
  static let makeTables = Command(
    name: "make-tables", summary: "Make or upgrade the tables of a PostgreSQL store, for a service that must not.",
    options: StoreOption.any + [
      Option(name: "--grant", form: "ROLE", summary: "Let this role use the tables; it cannot change or drop them.")
    ],
    notes: """
      Name the store with the role that is to own the tables. The services then use the role of --grant. A service whose role
      may make tables needs no such command. Tables that exist are kept, so you can repeat it.
      """
  ) { arguments throws(CommandError) in
    let settings = try StoreOption.settings(arguments)
    do throws(Service.StartError) {
      let done = try settings.makeTables(granting: arguments.value("--grant"))
      Terminal.write(done + "\n")
    } catch {
      throw CommandError(code: .unsuccessful, message: error.message)
    }
    return .success
  }
}

import RedialText

internal import RedialStore
internal import RedialModel

/// Why a statement failed, or a connection.
struct PostgresFailure: Error {
  /// Whether the connection can no longer be used, so that it is unknown what the server has done.
  var isLost: Bool
  /// The SQLSTATE (PostgreSQL's manual, appendix A); empty if the server has said nothing.
  var state: String
  /// What the server or libpq says.
  var message: String
  /// The statement that failed; nil if it was the connection.
  var query: PostgresQuery?
  /// Whether the connection could not be made.
  var isConnecting = false

  /// The division by zero by which statements check their conditions.
  static let divisionByZero = "22012"
  private static let uniqueViolation = "23505"

  /// Whether it is another transaction's fault, so that the same statements may succeed a moment later.
  var isConflict: Bool { state == "40001" || state == "40P01" }

  /// Whether another instance may have stored some of the calls that this commit was to store.
  var isOfStoredCall: Bool { state == Self.uniqueViolation && query?.duplicate == .call }

  /// Whether another instance has just taken the number that this one wanted.
  var isRaceForInstance: Bool { state == Self.uniqueViolation && query?.duplicate == .instance }

  /// The condition of the statement that was not met.
  var check: PostgresQuery.Check {
    state == Self.divisionByZero ? query?.check ?? .none : .none
  }

  /// The error for the service.
  ///
  /// - Parameter place: The database, without a password.
  func error(at place: String) -> StoreError {
    let lost = isConnecting ? "Could not connect to \(place)" : "Lost the connection to \(place)"
    let attempt = query.map { "Could not \($0.purpose) in \(place)" } ?? lost
    let code = state.isEmpty ? "" : " (SQLSTATE \(state))"
    let end = state.isEmpty && message.hasSuffix(".") ? "" : "."
    return StoreError(kind: kind, message: "\(attempt): \(message)\(code)\(end) \(advice)")
  }

  private var kind: StoreError.Kind {
    switch state {
    case "53100": .full
    case _ where check == .fence: .leaseLost
    case _ where check == .keys: .keyTaken
    case _ where check == .standing: .corrupt
    case "XX001", "XX002", Self.uniqueViolation, "42P01", "42703", "3F000": .corrupt
    default: .unavailable
    }
  }

  private var advice: String {
    switch kind {
    case .full: "Free space on the database server's disk."
    case .leaseLost: "Nothing was written. The instance joins again by itself."
    case .keyTaken, .callStored: "Nothing was written."
    case _ where isConnecting: Self.advice(unconnected: message)
    case _ where state == "42501":
      "Nothing was written. Grant the use of the tables to the role of the URL, with their owner: redial make-tables --grant."
    case .corrupt: "Nothing was written. If rows were changed by hand, restore them."
    default: isLost ? "It is tried again." : "Nothing was written."
    }
  }

  /// What to do about a connection that could not be made. libpq reports no SQLSTATE for it, only a text.
  private static func advice(unconnected message: String) -> String {
    let known = [
      ("too many clients", "Raise max_connections on the server, or use fewer instances."),
      ("connection slots", "Raise max_connections on the server, or use fewer instances."),
      ("too many connections", "Raise the connection limit of the role or of the database, or use fewer instances."),
      ("password", "Check user and password."),
      ("session is read-only", "It is a standby, or read-only. Name the primary, or all servers separated by commas."),
      ("unsupported startup parameter", Greeting.poolAdvice),
      ("certificate", "Set sslrootcert to the file with the certificate of the server's authority."),
      (
        "server does not support SSL",
        "Switch SSL on at the server. In a network that you trust, sslmode=disable does without."
      ),
    ]
    return known.first { message.contains($0.0) }?.1 ?? "Start it, or see why it cannot be reached."
  }

  /// Whether a state says that the server ends the connection, or that another one may work: the server has become read-only
  /// in a failover, or a pool has taken the prepared statements away.
  static func ends(_ state: String) -> Bool {
    state.hasPrefix("08") || ["57P01", "57P02", "57P03", "57P05", "25006", "26000"].contains(state)
  }
}

internal import RedialStore

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

  /// The division by zero by which statements check their conditions.
  static let divisionByZero = "22012"

  /// Whether it is another transaction's fault, so that the same statements may succeed a moment later.
  var isConflict: Bool { state == "40001" || state == "40P01" }

  /// Whether another instance has just taken the number that this one wanted.
  var isRaceForInstance: Bool { state == "23505" && query?.name == LeaseQueries.join.name }

  /// The condition of the statement that was not met.
  var check: PostgresQuery.Check {
    state == Self.divisionByZero ? query?.check ?? .none : .none
  }

  /// The error for whoever asked.
  ///
  /// - Parameter place: The database, without a password.
  func error(at place: String) -> StoreError {
    let attempt = query.map { "Could not \($0.purpose) in \(place)" } ?? "Lost the connection to \(place)"
    let code = state.isEmpty ? "" : " (SQLSTATE \(state))"
    return StoreError(kind: kind, message: "\(attempt): \(message)\(code). \(advice)")
  }

  private var kind: StoreError.Kind {
    switch state {
    case "53100": .full
    case _ where check == .fence: .leaseLost
    case _ where check == .keys: .keyTaken
    case _ where check == .standing: .corrupt
    case "XX001", "XX002", "23505", "42P01", "42703", "3F000": .corrupt
    default: .unavailable
    }
  }

  private var advice: String {
    switch kind {
    case .full: "Free space on the database server's disk."
    case .leaseLost: "Nothing was written. The instance joins again by itself."
    case .keyTaken: "Nothing was written."
    case .corrupt: "Nothing was written. If rows were changed by hand, restore them."
    default: isLost ? "It is tried again." : "Nothing was written."
    }
  }

  /// Whether a state says that the server ends the connection, or has no working one.
  static func ends(_ state: String) -> Bool {
    state.hasPrefix("08") || ["57P01", "57P02", "57P03", "57P05"].contains(state)
  }
}

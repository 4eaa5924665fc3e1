internal import RedialModel

/// The location of a store, as in the settings.
package enum StoreLocation: Sendable, Hashable {
  /// A file.
  case sqlite(path: String)
  /// A PostgreSQL database, by a URL that libpq reads.
  case postgres(url: String)

  /// Why a text is not a store's location.
  package struct Invalid: Error, Sendable, Hashable {
    /// What is wrong with it, and what is valid.
    package var message: String
  }

  /// Reads `sqlite:///absolute/path` or `sqlite:relative/path`, whose path is used unchanged, or
  /// `postgresql://user@host/database`.
  package init(_ text: String) throws(Invalid) {
    let examples =
      "Use sqlite:///var/lib/redial/redial.db, sqlite:redial.db for a file in the working folder, or "
      + "postgresql://user@host/database."
    if text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") {
      guard !text.utf8.contains(0) else { throw Invalid(message: "The store's URL has a zero byte. \(examples)") }
      self = .postgres(url: text)
      return
    }
    let scheme = "sqlite:"
    guard text.hasPrefix(scheme) else {
      throw Invalid(message: "\"\(Redaction.place(text))\" does not name a store. \(examples)")
    }
    var path = text.dropFirst(scheme.count)
    if path.hasPrefix("//") {
      path = path.dropFirst(2)
      guard path.hasPrefix("/") else {
        throw Invalid(message: "\"\(text)\" has a host where a path was expected. \(examples)")
      }
    }
    guard !path.isEmpty, !path.hasSuffix("/"), !path.utf8.contains(0) else {
      throw Invalid(message: "\"\(text)\" does not name a file. \(examples)")
    }
    guard path != ":memory:" else {
      throw Invalid(message: "A store in memory would lose calls that were accepted. \(examples)")
    }
    self = .sqlite(path: String(path))
  }

  /// Who uses the store.
  package var sharing: StoreSharing {
    switch self {
    case .sqlite: .alone
    case .postgres: .shared
    }
  }
}

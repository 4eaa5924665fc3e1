import Glibc

/// The process's environment.
enum Environment {
  static func value(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }

  static var all: [String: String] {
    var variables: [String: String] = [:]
    var entry = environ
    while let text = entry.pointee {
      let parts = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
      entry += 1
    }
    return variables
  }
}

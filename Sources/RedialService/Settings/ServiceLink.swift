/// The environment variables with which Kubernetes, and Docker before it, describes the surrounding Services to every
/// container.
///
/// A Service named `redial` puts `REDIAL_PORT=tcp://10.0.0.7:8080`, `REDIAL_SERVICE_HOST` and more into the environment,
/// one named `redial-postgres` puts `REDIAL_POSTGRES_PORT`. They are not settings and not typing errors. The names are
/// those of Kubernetes' `pkg/kubelet/envvars/envvars.go`.
enum ServiceLink {
  /// Whether a variable is a service link. The name alone is not enough: a mistyped setting can also end in `_PORT`.
  static func isOne(_ name: String, _ value: String) -> Bool {
    let words = name.split(separator: "_", omittingEmptySubsequences: false)
    for start in words.indices.dropFirst() where isLink(words[start...], value) { return true }
    return false
  }

  /// - Parameter words: The words after the name of the Service.
  private static func isLink(_ words: ArraySlice<Substring>, _ value: String) -> Bool {
    let rest = words.dropFirst(2)
    switch (words.first, words.dropFirst().first) {
    case ("PORT", nil): return isURL(value)
    case ("SERVICE", "HOST"): return rest.isEmpty && isHost(value)
    case ("SERVICE", "PORT"): return isPort(value)
    case ("PORT", let port?):
      guard isPort(String(port)), let transport = rest.first, transports.contains(transport) else { return false }
      switch (rest.count, rest.dropFirst().first) {
      case (1, _): return isURL(value)
      case (2, "PROTO"): return transports.contains(value.uppercased()[...])
      case (2, "PORT"): return isPort(value)
      case (2, "ADDR"): return isHost(value)
      default: return false
      }
    default: return false
    }
  }

  private static let transports: Set<Substring> = ["TCP", "UDP", "SCTP"]

  private static func isURL(_ value: String) -> Bool {
    transports.contains { value.hasPrefix($0.lowercased() + "://") }
  }

  private static func isPort(_ value: String) -> Bool {
    value.utf8.allSatisfy { (0x30...0x39).contains($0) } && UInt16(value) != nil
  }

  /// An IP address, or a host name if the Service has no address.
  private static func isHost(_ value: String) -> Bool {
    !value.isEmpty
      && value.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || [0x2D, 0x2E, 0x3A].contains($0)
      }
  }
}

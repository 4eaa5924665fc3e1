internal import Glibc
internal import HTTPServer
internal import RedialModel

/// The URL at which the other instances on the same store reach one.
enum PeerURL {
  /// Whether it is valid: `http://` or `https://`, a host, an optional port, and nothing behind.
  static func isValid(_ text: String) -> Bool {
    guard let scheme = ["http://", "https://"].first(where: text.hasPrefix), (try? TargetURL(text)) != nil else {
      return false
    }
    return !text.dropFirst(scheme.count).contains { "/?#@".contains($0) }
  }

  /// The URL that follows from the addresses on which an instance listens; nil if no other machine can know one.
  ///
  /// An address of this machine alone is returned too: instances on one machine reach each other there.
  static func derived(from urls: [String], machine: String = Self.machineName) -> String? {
    for url in urls where url.hasPrefix("http://") {
      guard case .tcp(let host, let port) = ListenAddress(String(url.dropFirst(7))) else { continue }
      if ["0.0.0.0", "[::]", "::"].contains(host) { return "http://\(machine):\(port)" }
      return url
    }
    return nil
  }

  /// The name of this machine, which in a network of containers is the container's.
  static var machineName: String {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "localhost" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

internal import HTTPServer
internal import RedialModel

/// How the service's own addresses limit calls: no call goes to the service itself, and with `egress=private` loopback
/// addresses are allowed as long as no other machine can connect to the service.
extension EgressPolicy {
  /// The policy of a service that will listen there, as far as that is known before it does.
  func knowing(_ listen: ListenAddress) -> EgressPolicy {
    var policy = self
    switch listen {
    case .tcp(let host, let port):
      let address = Self.address(ofHost: host)
      policy.reachesLoopback = address?.addressClass == .loopback
      if port > 0 { policy.own = [Endpoint(address, port: port)] }
    // Clients that can reach the socket's file are on this machine.
    case .unix: policy.reachesLoopback = true
    // The kind of these sockets is seen later; the decision is made when an address is dialled.
    case .inherited: policy.reachesLoopback = true
    }
    return policy
  }

  /// The policy of a service that listens at these URLs.
  func knowing(_ urls: [String]) -> EgressPolicy {
    var policy = self
    policy.own = []
    policy.reachesLoopback = true
    for url in urls {
      guard case .tcp(let host, let port) = ListenAddress(url.hasPrefix("http://") ? String(url.dropFirst(7)) : url)
      else { continue }
      let address = Self.address(ofHost: host)
      policy.own.append(Endpoint(address, port: port))
      if address?.addressClass != .loopback { policy.reachesLoopback = false }
    }
    return policy
  }

  private static func address(ofHost host: String) -> IPAddress? {
    let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    return IPAddress(canonical: bare == "localhost" ? "127.0.0.1" : bare)
  }
}

extension EgressPolicy.Endpoint {
  /// An unspecified address stands for all of this machine's; so does one with a zone, which is not parsed.
  init(_ address: IPAddress?, port: Int) {
    self.init(address: address.flatMap { $0.addressClass == .unspecified ? nil : $0 }, port: port)
  }
}

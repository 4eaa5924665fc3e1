internal import CCurl
internal import Glibc

/// The address of the request's name; see ``Naming``.
extension Transfer {
  /// Whether libcurl may resolve the request's name itself: it is an address, or never needs a resolver.
  func mayResolve() -> Bool {
    guard configuration.proxy == nil, naming.mayLookUp, let (name, port) = host else { return true }
    naming.want(name, port: port)
    return false
  }

  /// The name that must be looked up; nil for an address, `localhost` and a text that is not a DNS name, which libcurl
  /// handles itself.
  private var host: (name: String, port: Int)? {
    guard let parsedURL = options.parsedURL, let name = part(CURLUPART_HOST, of: parsedURL),
      let port = part(CURLUPART_PORT, of: parsedURL).flatMap({ Int($0) })
    else { return nil }
    let isName = name.utf8.allSatisfy { byte in
      (byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z"))
        || (byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9"))
        || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
    }
    let lowercase = name.lowercased()
    var address = in_addr()
    guard isName, !name.isEmpty, name.utf8.count <= 255, inet_pton(AF_INET, name, &address) != 1,
      lowercase != "localhost", !lowercase.hasSuffix(".localhost")
    else { return nil }
    return (lowercase, port)
  }

  private func part(_ part: CURLUPart, of url: OpaquePointer) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard curl_url_get(url, part, &text, UInt32(CURLU_DEFAULT_PORT)) == CURLUE_OK, let text else { return nil }
    defer { curl_free(text) }
    return String(cString: text)
  }

  /// Stops libcurl from going through all cached addresses at the end of this transfer, unless it is time for that. The
  /// age of this transfer's address was checked before.
  func skipPruning() {
    if let pruning, options.isPruning, !pruning.isDue() { options.stopPruning() }
  }

  /// Makes libcurl forget the addresses of the request's name when it begins.
  func forgetAddresses() -> CURLcode {
    guard configuration.proxy == nil, let (name, port) = host else { return CURLE_OK }
    return naming.forget(name, port: port, on: handle)
  }

  /// Begins to wait for a lookup.
  func beginWaiting(at now: ContinuousClock.Instant) {
    suspension.begin(at: now, spent: .microseconds(elapsed))
    naming.beginWaiting()
  }

  /// Ends the wait.
  func endWaiting(at now: ContinuousClock.Instant) {
    suspension.end(at: now)
    naming.endWaiting()
  }

  /// Gives libcurl the addresses of the request's name, and sets the rest of the request's time.
  func setAddresses(_ found: [String]) -> CURLcode {
    let code = naming.give(memory?.order(found, of: dialling.url) ?? found, to: handle)
    return code == CURLE_OK ? setTimeouts(after: suspension.spent) : code
  }
}

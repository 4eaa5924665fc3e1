internal import CCurl
internal import Glibc

/// How a transfer gets the address of its name.
///
/// libcurl tries first: it may have a reusable connection, or a cached address. Only if it would look the name up, the
/// transfer ends and waits for a lookup here, and then starts again with the addresses.
extension Transfer {
  /// The source of the current request's address.
  struct Naming {
    /// Whether libcurl wanted to look up a name, and was refused.
    var isWanted = false
    /// Since when the transfer waits for a lookup; nil if it does not.
    var since: ContinuousClock.Instant?
    var isWaiting: Bool { since != nil }
    /// The name that it waits for.
    var name = ""
    var port = 0
    /// Whether libcurl was stopped for a lookup and has not started again.
    var isSuspended = false
    /// How much of the request's time had passed when libcurl last started.
    var spent = Duration.zero
    /// The number of lookups for this request.
    var lookups = 0
    /// The addresses that libcurl was given; it reads them when the transfer begins.
    var addresses: UnsafeMutablePointer<curl_slist>?

    /// Forgets the request before.
    mutating func begin() {
      (isWanted, since, isSuspended, spent, lookups) = (false, nil, false, .zero, 0)
    }
  }

  /// Lookups for one request. An address can be forgotten while the transfer waits for room among its target's connections,
  /// and is looked up again; but a name that libcurl never finds must not be tried forever.
  private static let maximumLookups = 8

  /// Whether libcurl may resolve the request's name itself: it is an address, or never needs a resolver.
  func mayResolve() -> Bool {
    guard configuration.proxy == nil, naming.lookups < Self.maximumLookups, let (name, port) = host else { return true }
    naming.isWanted = true
    (naming.name, naming.port) = (name, port)
    return false
  }

  /// The name that must be looked up; nil for an address, `localhost` and a text that is not a DNS name, which libcurl
  /// handles itself.
  private var host: (name: String, port: Int)? {
    guard let parsedURL, let name = part(CURLUPART_HOST, of: parsedURL),
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

  /// Stops libcurl from going through all cached addresses at the end of this transfer, unless it is time for that.
  ///
  /// The lifetime of addresses also controls libcurl's pruning: -1, for forever, turns pruning off. The age of this
  /// transfer's address was checked before.
  func skipPruning() {
    guard let pruning, last.addressTime != -1, !pruning.isDue() else { return }
    if redial_curl_set_long(handle, CURLOPT_DNS_CACHE_TIMEOUT, -1) == CURLE_OK { last.addressTime = -1 }
  }

  /// Begins to wait for a lookup.
  func beginWaiting(at now: ContinuousClock.Instant) {
    naming.spent = .microseconds(elapsed)
    (naming.isWanted, naming.isSuspended) = (false, true)
    naming.since = now
    naming.lookups += 1
  }

  /// Ends the wait, with the time that has passed of the request's time.
  func endWaiting(at now: ContinuousClock.Instant) {
    guard let since = naming.since else { return }
    naming.spent += now - since
    naming.since = nil
  }

  /// Gives libcurl the addresses of the request's name, which it caches as if it had found them, and sets the rest of
  /// the request's time.
  func setAddresses(_ found: [String]) -> CURLcode {
    let line = "+\(naming.name):\(naming.port):" + found.joined(separator: ",")
    guard let list = curl_slist_append(nil, line) else { return CURLE_OUT_OF_MEMORY }
    let code = redial_curl_set_addresses(handle, list)
    curl_slist_free_all(naming.addresses)
    naming.addresses = list
    return code == CURLE_OK ? setTimeouts(after: naming.spent) : code
  }
}

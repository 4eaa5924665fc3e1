internal import CCurl

/// How a transfer gets the address of its name.
///
/// libcurl tries first: it may have a reusable connection, or a cached address. Only if it would look the name up, the
/// transfer ends and waits for a lookup here, and then starts again with the addresses.
///
/// Sound: libcurl reads the list of addresses when the transfer begins; it is replaced only when the transfer does not
/// run, and freed after the handle.
struct Naming: ~Copyable {
  /// Whether libcurl wanted to look up a name, and was refused.
  private(set) var isWanted = false
  /// The name that it waits for.
  private(set) var name = ""
  private var port = 0
  /// Whether it does.
  private(set) var isWaiting = false
  /// The number of lookups for this request.
  private var lookups = 0
  /// The addresses that libcurl was given.
  private var addresses: UnsafeMutablePointer<curl_slist>?

  /// Lookups for one request. An address can be forgotten while the transfer waits for room among its target's connections,
  /// and is looked up again; but a name that libcurl never finds must not be tried forever.
  private static let maximumLookups = 8

  init() {}

  deinit { curl_slist_free_all(addresses) }

  /// Whether the name may be looked up once more.
  var mayLookUp: Bool { lookups < Self.maximumLookups }

  /// Forgets the request before.
  mutating func begin() {
    (isWanted, isWaiting, lookups) = (false, false, 0)
  }

  /// Notes that libcurl wanted to look up a name, and was refused.
  mutating func want(_ name: String, port: Int) {
    isWanted = true
    (self.name, self.port) = (name, port)
  }

  /// Begins to wait for a lookup.
  mutating func beginWaiting() {
    (isWanted, isWaiting) = (false, true)
    lookups += 1
  }

  mutating func endWaiting() { isWaiting = false }

  /// Gives libcurl the addresses of the name, which it caches as if it had found them.
  mutating func give(_ found: [String], to handle: UnsafeMutableRawPointer) -> CURLcode {
    set("+\(name):\(port):" + found.joined(separator: ","), on: handle)
  }

  /// Makes libcurl forget the addresses of a name.
  mutating func forget(_ name: String, port: Int, on handle: UnsafeMutableRawPointer) -> CURLcode {
    set("-\(name):\(port)", on: handle)
  }

  private mutating func set(_ entry: String, on handle: UnsafeMutableRawPointer) -> CURLcode {
    guard let list = curl_slist_append(nil, entry) else { return CURLE_OUT_OF_MEMORY }
    let code = redial_curl_set_addresses(handle, list)
    curl_slist_free_all(addresses)
    addresses = list
    return code
  }
}

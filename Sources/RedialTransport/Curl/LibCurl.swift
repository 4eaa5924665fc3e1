internal import CCurl

/// The library as a whole.
enum LibCurl {
  /// Whether it could be initialized, which is done once, before any handle is made.
  static let isUsable = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
}

internal import CCurl

/// The library as a whole.
enum LibCurl {
  /// Whether it could be started, which is done once and for all, before any handle is made.
  static let isUsable = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
}

internal import CCurl

/// The library as a whole.
enum LibCurl {
  /// Whether it could be initialized, which is done once, before any handle is made.
  static let isUsable = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  /// Whether each request needs a handle of its own: before 8.21.0. In 7.88 the parser of a used handle keeps a pointer to a
  /// header field of an earlier response, which is freed, and uses it if the first field line of the next one begins with a
  /// blank. What arrives on a kept connection between requests is not left to any version: 8.22 looks at a connection only
  /// if it has not done so within a second.
  static let needsFreshHandles = redial_curl_version() < 0x08_15_00
}

internal import CCurl

/// The library as a whole.
enum LibCurl {
  /// Whether it could be initialized, which is done once, before any handle is made.
  static let isUsable = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  /// What has to be done for the libcurl that is there.
  static let needs = Needs(version: redial_curl_version())

  /// What older versions of libcurl leave to their caller.
  struct Needs {
    /// A handle for each request. In 7.88 the parser of a used handle keeps a pointer to a header field of an earlier
    /// response, which is freed, and uses it if the first field line of the next one begins with a blank.
    var freshHandles: Bool
    /// A look at a used connection, before a request goes out on it: libcurl 7.88 takes what came meanwhile for the response.
    var looks: Bool
    /// No connection is shared between groups of requests, so that what is still read wrongly stays within one.
    var separates: Bool

    /// From 8.21.0 on, libcurl was seen to do without.
    ///
    /// - Parameter version: One byte each for the major version, the minor one and the patch.
    init(version: UInt32) {
      let isOld = version < 0x08_15_00
      (freshHandles, looks, separates) = (isOld, isOld, isOld)
    }
  }
}

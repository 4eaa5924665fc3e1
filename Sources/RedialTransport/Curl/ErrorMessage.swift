internal import CCurl
internal import Glibc

/// libcurl's message about the failure of a handle's current request.
///
/// Sound: libcurl has the address for as long as the handle lives, and writes at most `CURL_ERROR_SIZE` bytes with a
/// zero at their end. The transfer that has both frees the handle first.
struct ErrorMessage: ~Copyable {
  let buffer: UnsafeMutablePointer<CChar>

  init() {
    buffer = .allocate(capacity: Int(CURL_ERROR_SIZE))
    buffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
  }

  deinit { buffer.deallocate() }

  /// Whether libcurl has given no reason for a failure.
  var isEmpty: Bool { buffer.pointee == 0 }

  /// Whether the target broke the rules of HTTP/2 so that its connection had to end, with all that was in flight on it: such
  /// as by a header that is too large. Codes from -900 are nghttp2's for that.
  var tellsOfBrokenHTTP2: Bool {
    strstr(buffer, "nghttp2") != nil && strstr(buffer, " -90") != nil
  }

  /// Forgets the message of the request before.
  func clear() { buffer.pointee = 0 }

  /// Sets the reason for a failure that this side caused, in place of libcurl's.
  func set(_ text: String) {
    let bytes = text.utf8CString
    for (place, byte) in bytes.enumerated() where place < Int(CURL_ERROR_SIZE) { buffer[place] = byte }
    buffer[Int(CURL_ERROR_SIZE) - 1] = 0
  }

  /// The message, or the general one of a code; without a full stop.
  func text(for code: CURLcode) -> String {
    let said = String(cString: buffer)
    let text = said.isEmpty ? String(cString: curl_easy_strerror(code)) : said
    return text.hasSuffix(".") ? String(text.dropLast()) : text
  }
}

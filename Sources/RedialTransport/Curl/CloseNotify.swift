internal import CCurl

/// Notes whether a target has said within TLS that it sends no more (RFC 8446 §6.1). An older libcurl does not tell that from the
/// end of the connection, which anyone between can make.
enum CloseNotify {
  /// Where sessions have what is to be set.
  private static let place = redial_tls_new_place()

  /// SSL_CB_READ_ALERT, and the alert.
  private static let (readAlert, closeNotify): (Int32, Int32) = (0x4004, 0)

  /// - Parameter isEnded: Is set to 1. It must be there for as long as the session of the handle's connection is.
  static func note(of handle: UnsafeMutableRawPointer, in isEnded: UnsafeMutablePointer<Int32>) {
    guard let session = redial_curl_tls(handle), SSL_set_ex_data(session, place, isEnded) != 0 else { return }
    SSL_set_info_callback(session) { session, event, alert in
      guard event == CloseNotify.readAlert, alert & 0xFF == CloseNotify.closeNotify else { return }
      SSL_get_ex_data(session, CloseNotify.place)?.assumingMemoryBound(to: Int32.self).pointee = 1
    }
  }
}

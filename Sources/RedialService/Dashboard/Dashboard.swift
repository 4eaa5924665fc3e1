internal import CDocuments
internal import HTTPServer
internal import RedialModel

/// The dashboard: one page that contains its style and its script and needs only this service.
enum Dashboard {
  /// 200: the page. Its policy allows only this: to run the script in it and no other, to use its style, to send
  /// requests to this service, and to show images that it creates.
  static let page: HTTPResponse = {
    let page = Document.bytes(of: redial_dashboard())
    return HTTPResponse(
      status: 200,
      headers: [
        HTTPHeader("content-type", "text/html; charset=utf-8"),
        HTTPHeader(
          "content-security-policy",
          "default-src 'none'; script-src \(digest(of: page, between: "<script>", and: "</script>")); "
            + "style-src \(digest(of: page, between: "<style>", and: "</style>")); connect-src 'self'; "
            + "img-src blob: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
        // Other sites get no referrer. Without a referrer, browsers would send the origin `null` to this service.
        HTTPHeader("referrer-policy", "same-origin"),
        HTTPHeader("cache-control", "no-cache"),
      ], body: page)
  }()

  /// The digest of the first element's content, as a source of a Content-Security-Policy (CSP Level 3, section 6.7.3).
  private static func digest(of page: [UInt8], between start: StaticString, and end: StaticString) -> String {
    func find(_ text: StaticString, from index: Int) -> Int? {
      text.withUTF8Buffer { wanted in
        guard page.count >= wanted.count else { return nil }
        return (index...(page.count - wanted.count)).first { page[$0..<($0 + wanted.count)].elementsEqual(wanted) }
      }
    }
    guard let opening = find(start, from: 0), let closing = find(end, from: opening) else { return "'none'" }
    let content = page[(opening + start.utf8CodeUnitCount)..<closing]
    return "'sha256-" + content.withUnsafeBytes { Base64.encode(SHA256Digest.of($0)) } + "'"
  }
}

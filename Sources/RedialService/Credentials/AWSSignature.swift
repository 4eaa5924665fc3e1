internal import RedialCore
internal import RedialModel
internal import RedialText

/// AWS Signature Version 4 ("Signing AWS API requests" in the reference of AWS IAM).
///
/// libcurl signs too, but its version in Debian 12 (7.88) leaves parameters in the order of the URL, encodes no path, and does
/// not know a body that is read while it is sent: services refuse these.
enum AWSSignature {
  /// The fields that sign a request.
  ///
  /// - Parameters:
  ///   - head: The request as it is sent otherwise.
  /// - Returns: Nil if libcrypto has no memory.
  static func fields(
    _ content: CredentialContent, _ head: AttemptHead, method: String, body: RequestBytes, at now: Timestamp
  ) throws(BodyUnreadable) -> [HeaderField]? {
    guard let digest = try SHA256Digest.of(SignedBody("", body)) else { return nil }
    let hash = AttemptSignature.hex(digest)
    let time = basicFormat(now)
    let date = String(time.prefix(8))
    var added = [HeaderField("x-amz-content-sha256", hash), HeaderField("x-amz-date", time)]
    if !content[.sessionToken].isEmpty { added.append(HeaderField("x-amz-security-token", content[.sessionToken])) }
    if !head.fields.contains(where: { $0.isNamed("host") }) {
      added.append(HeaderField("host", host(of: head.url)))
    }
    let signed = (head.fields + added).filter { isSigned($0.name.lowercased()) }
    var values: [String: [String]] = [:]
    for field in signed { values[field.name.lowercased(), default: []].append(trimmed(field.value)) }
    let names = values.keys.sorted()
    let parts = Parts(head.url)
    let request = [
      method, path(parts.path, service: content[.service]), query(parts.query),
      names.map { "\($0):\(values[$0, default: []].joined(separator: ","))\n" }.joined(),
      names.joined(separator: ";"), hash,
    ].joined(separator: "\n")
    let scope = "\(date)/\(content[.region])/\(content[.service])/aws4_request"
    let requestHash = AttemptSignature.hex(Array(request.utf8).withUnsafeBytes { SHA256Digest.of($0) })
    let text = "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(requestHash)"
    var key: [UInt8] = Array("AWS4\(content[.secretAccessKey])".utf8)
    for part in [date, content[.region], content[.service], "aws4_request", text] {
      key = SHA256Digest.authentication(of: Array(part.utf8), key)
    }
    added.append(
      HeaderField(
        "Authorization",
        "AWS4-HMAC-SHA256 Credential=\(content[.accessKeyID])/\(scope), SignedHeaders=\(names.joined(separator: ";")), "
          + "Signature=\(AttemptSignature.hex(key))"))
    return added
  }

  /// What a proxy on the way does not change.
  private static func isSigned(_ name: String) -> Bool {
    name == "host" || name == "content-type" || name.hasPrefix("x-amz-")
  }

  /// `20261128T065056Z`.
  private static func basicFormat(_ time: Timestamp) -> String {
    TimestampText.format(time).prefix(19).filter { $0 != "-" && $0 != ":" } + "Z"
  }

  /// Without surrounding spaces, and one space for several.
  private static func trimmed(_ value: String) -> String {
    value.split(separator: " ").joined(separator: " ")
  }

  /// The path and the query of a URL, as they are written.
  private struct Parts {
    var path = "/"
    var query = ""

    init(_ url: String) {
      let rest = url.prefix { $0 != "#" }
      let hierarchy = rest.prefix { $0 != "?" }
      query = String(rest.dropFirst(hierarchy.count).dropFirst())
      let slashes = hierarchy.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
      if slashes.count == 4 { path = "/" + slashes[3] }
    }
  }

  private static func host(of url: String) -> String {
    let origin = (try? TargetURL(url).origin) ?? url
    return String(origin.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).last ?? "")
  }

  /// The path with its segments encoded once more, without dots and empty segments; for S3 encoded once, whatever the URL has.
  private static func path(_ path: String, service: String) -> String {
    if service == "s3" {
      return path.split(separator: "/", omittingEmptySubsequences: false).map { segment in
        PercentCoding.decode(segment).map { PercentCoding.encode($0) } ?? String(segment)
      }.joined(separator: "/")
    }
    var segments: [Substring] = []
    for segment in path.split(separator: "/") where segment != "." {
      if segment == ".." { _ = segments.popLast() } else { segments.append(segment) }
    }
    let isOpen = path.hasSuffix("/") && !segments.isEmpty
    return "/" + segments.map { PercentCoding.encode(String($0)) }.joined(separator: "/") + (isOpen ? "/" : "")
  }

  /// The parameters, encoded in one way, by their names and then their values.
  private static func query(_ query: String) -> String {
    let parameters = query.split(separator: "&").map { parameter in
      let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let coded = parts.map { part in PercentCoding.decode(part).map { PercentCoding.encode($0) } ?? String(part) }
      return (coded[0], coded.count > 1 ? coded[1] : "")
    }
    return parameters.sorted { $0 < $1 }.map { "\($0)=\($1)" }.joined(separator: "&")
  }
}

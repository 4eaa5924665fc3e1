extension ParserCase {
  /// RFC 9112 sections 2.2, 2.3 and 3.
  static let requestLines: [ParserCase] = [
    acceptsLine("9112 §3: method, target, version", "GET /a/b HTTP/1.1", path: "/a/b"),
    acceptsLine("9112 §3.2.1: origin-form with a query", "GET /a?x=1&y HTTP/1.1", path: "/a", query: "x=1&y"),
    acceptsLine("9112 §3.2.1: the query is empty", "GET /a? HTTP/1.1", path: "/a", query: ""),
    acceptsLine("9112 §3.2.1: a second ? belongs to the query", "GET /?a?b HTTP/1.1", query: "a?b"),
    acceptsLine("9112 §3.2.1: percent-encoding stays", "GET /%2e%2F HTTP/1.1", path: "/%2e%2F"),
    acceptsLine("9112 §3.2.1: two slashes are a path, not an authority", "GET //b/c HTTP/1.1", path: "//b/c"),
    acceptsLine("9110 §9.1: any token is a method", "x-!#$%&'*+.^_`|~9 / HTTP/1.1", method: "x-!#$%&'*+.^_`|~9"),
    acceptsLine("9110 §9.1: methods are case-sensitive", "get / HTTP/1.1", method: "get"),
    acceptsLine("9112 §2.3: a higher minor version is served", "GET / HTTP/1.9", path: "/").withMinorVersion(9),

    acceptsLine("9112 §3.2.2: absolute-form", "GET http://b.c/d?e HTTP/1.1", path: "/d", query: "e"),
    acceptsLine("9112 §3.2.2: absolute-form, scheme in capitals, a port", "GET HTTP://b:80/d HTTP/1.1", path: "/d"),
    acceptsLine("9112 §3.2.2: https in absolute-form", "GET https://b/d HTTP/1.1", path: "/d"),
    acceptsLine("9112 §3.2.2: absolute-form with an IPv6 literal", "GET http://[::1]:8/d HTTP/1.1", path: "/d"),
    acceptsLine("9112 §3.2.2: absolute-form without a path", "GET http://b HTTP/1.1"),
    acceptsLine("9112 §3.2.2: absolute-form with a query alone", "GET http://b?q HTTP/1.1", query: "q"),
    refusesLine("9112 §3.2.2: absolute-form without a host", 400, "GET http:///d HTTP/1.1"),
    refusesLine("9112 §3.2.2: absolute-form, scheme alone", 400, "GET http:// HTTP/1.1"),
    refusesLine("9112 §3.2.2: absolute-form with user information", 400, "GET http://u@b/ HTTP/1.1"),
    refusesLine("9112 §3.2.2: another scheme", 400, "GET ftp://b/ HTTP/1.1"),
    refusesLine("9112 §3.2.2: absolute-form with a port of letters", 400, "GET http://b:x/ HTTP/1.1"),
    refusesLine("9112 §3.2.2: absolute-form with an open bracket", 400, "GET http://[::1/ HTTP/1.1"),

    acceptsLine("9112 §3.2.4: asterisk-form", "OPTIONS * HTTP/1.1", method: "OPTIONS", path: "*"),
    acceptsLine(
      "9112 §3.2.4: OPTIONS, no path or query, is *", "OPTIONS http://b HTTP/1.1", method: "OPTIONS", path: "*"),
    acceptsLine(
      "9112 §3.2.4: OPTIONS with a query is no *", "OPTIONS http://b?q HTTP/1.1", method: "OPTIONS", query: "q"),
    refusesLine("9112 §3.2.4: asterisk-form of another method", 400, "GET * HTTP/1.1"),
    refusesLine("9112 §3.2.4: asterisk-form with a query", 400, "OPTIONS *?q HTTP/1.1"),
    refusesLine("9112 §3.2.3: authority-form of GET", 400, "GET b:80 HTTP/1.1"),
    refusesLine("9110 §9.3.6: CONNECT is for proxies", 501, "CONNECT b:80 HTTP/1.1"),

    refusesLine("9112 §3: two spaces before the target", 400, "GET  / HTTP/1.1"),
    refusesLine("9112 §3: two spaces before the version", 400, "GET /  HTTP/1.1"),
    refusesLine("9112 §3: a blank at the end", 400, "GET / HTTP/1.1 "),
    refusesLine("9112 §3: a tab between the parts", 400, "GET\t/ HTTP/1.1"),
    refusesLine("9112 §3: a blank in front", 400, " GET / HTTP/1.1"),
    refusesLine("9112 §3: no target", 400, "GET HTTP/1.1"),
    refusesLine("9112 §3: an empty target", 400, "GET "),
    refusesLine("9112 §3: the method alone", 400, "GET"),
    refusesLine("9112 §3: a request of HTTP/0.9", 400, "GET /"),
    refusesLine("9112 §3: a method that is no token", 400, "GE(T / HTTP/1.1"),
    refusesLine("9112 §3: the target holds a space", 400, "GET /a b HTTP/1.1"),
    refusesLine("9112 §3.2: the target holds a fragment", 400, "GET /a#b HTTP/1.1"),
    refusesLine("9112 §3.2: the target holds a NUL", 400, "GET /\0 HTTP/1.1"),
    refusesLine("9112 §3.2: the target holds a DEL", 400, "GET /\u{7F} HTTP/1.1"),
    refusesLine("9112 §3.2: the target holds UTF-8", 400, "GET /ä HTTP/1.1"),
    refusesLine("9112 §3.2: the target holds a CR", 400, "GET /\rx HTTP/1.1"),
    refuses("9112 §3: a TLS greeting is refused at its first byte", 400, bytes: [0x16]),
    refuses("9112 §3: a NUL in front", 400, bytes: [0]),

    refusesLine("9112 §2.3: HTTP/2.0 in a request line", 505, "GET / HTTP/2.0"),
    refusesLine("9112 §2.3: HTTP/0.9", 505, "GET / HTTP/0.9"),
    refusesLine("9112 §2.3: the name is case-sensitive", 400, "GET / http/1.1"),
    refusesLine("9112 §2.3: two digits", 400, "GET / HTTP/1.10"),
    refusesLine("9112 §2.3: no minor version", 400, "GET / HTTP/1"),
    refusesLine("9112 §2.3: a comma", 400, "GET / HTTP/1,1"),
    refuses("9113 §3.4: the preface of HTTP/2", 505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),

    accepts("9112 §2.2: an empty line in front is ignored", "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
    pipelined("9112 §2.2: an empty line after a request is no request", 1, "GET / HTTP/1.1\r\nHost: a\r\n\r\n\r\n"),
    refuses("9112 §2.2: two empty lines in front", 400, "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
    refuses("9112 §2.2: a bare LF in front", 400, "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
    refuses("9112 §2.2: a bare CR in front", 400, "\rGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
    refuses("9112 §2.2: the request line ends in a bare LF", 400, "GET / HTTP/1.1\nHost: a\r\n\r\n"),
    refuses("9112 §2.2: the request line ends in a bare CR", 400, "GET / HTTP/1.1\rHost: a\r\n\r\n"),
    incomplete("9112 §2.2: a CR may begin an empty line", "\r"),
    incomplete("9112 §3: half a request line", "GET / HT"),
    pipelined(
      "9112 §9.3.2: requests follow one another", 3,
      "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nPOST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
        + "GET /3 HTTP/1.1\r\nHost: a\r\n\r\n"),
  ]

  private func withMinorVersion(_ minorVersion: Int) -> ParserCase {
    guard case .request(var request) = expectation else { return self }
    request.minorVersion = minorVersion
    return ParserCase(name: name, input: input, expectation: .request(request))
  }
}

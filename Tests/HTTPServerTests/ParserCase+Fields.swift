extension ParserCase {
  /// RFC 9110 sections 5, 7.2, 7.6.1 and 10.1.1, RFC 9112 sections 3.2, 5 and 9.
  static let fields: [ParserCase] = [
    accepts(
      "9112 §5.1: blanks around a value are not part of it",
      "GET / HTTP/1.1\r\nHost:a\r\nA: \t b c\t \r\nB:\r\nC:   \r\n\r\n",
      headers: ["Host: a", "A: b c", "B: ", "C: "]),
    accepts(
      "9110 §5.3: repeated fields keep their order", "GET / HTTP/1.1\r\nx: 1\r\nHost: a\r\nX: 2\r\n\r\n",
      headers: ["x: 1", "Host: a", "X: 2"]),
    accepts(
      "9110 §5.5: obs-text and punctuation in a value", "GET / HTTP/1.1\r\nHost: a\r\nX: \"ä\" :;,\r\n\r\n",
      headers: ["Host: a", "X: \"ä\" :;,"]),
    accepts("9110 §5.6.2: any token is a name", "GET / HTTP/1.1\r\nHost: a\r\n!#$%&'*+-.^_`|~: 1\r\n\r\n"),
    refusesFields("9112 §5.1: a space before the colon", 400, ["Host: a", "X : 1"]),
    refusesFields("9112 §5.1: a tab before the colon", 400, ["Host: a", "X\t: 1"]),
    refusesFields("9112 §5.1: a name that is no token", 400, ["Host: a", "X(y): 1"]),
    refusesFields("9112 §5.1: an empty name", 400, ["Host: a", ": 1"]),
    refusesFields("9112 §5.1: no colon", 400, ["Host: a", "X"]),
    refusesFields("9112 §5.2: obs-fold", 400, ["Host: a", "X: 1", " 2"]),
    refusesFields("9112 §5.2: obs-fold with a tab", 400, ["Host: a", "X: 1", "\t2"]),
    refusesFields("9112 §5.2: a fold before the first field", 400, [" Host: a"]),
    refusesFields("9110 §5.5: a NUL in a value", 400, ["Host: a", "X: 1\u{0}2"]),
    refusesFields("9110 §5.5: a bare CR in a value", 400, ["Host: a", "X: 1\r2"]),
    refusesFields("9110 §5.5: a CR at the end of a value", 400, ["Host: a", "X: 1\r"]),
    refusesFields("9110 §5.5: an ESC in a value", 400, ["Host: a", "X: \u{1B}"]),
    refusesFields("9110 §5.5: a DEL in a value", 400, ["Host: a", "X: \u{7F}"]),
    refusesFields("9110 §5.1: a NUL in a name", 400, ["Host: a", "X\u{0}: 1"]),
    refusesFields("9110 §5.1: UTF-8 in a name", 400, ["Host: a", "Ä: 1"]),
    refuses("9112 §2.2: a field line ends in a bare LF", 400, "GET / HTTP/1.1\r\nHost: a\nX: 1\r\n\r\n"),
    refuses("9112 §2.2: the empty line is a bare LF", 400, "GET / HTTP/1.1\r\nHost: a\r\n\nGET"),
    refuses("9112 §2.2: the empty line is CR CR LF", 400, "GET / HTTP/1.1\r\nHost: a\r\n\r\r\n\r\n"),

    acceptsFields("9112 §3.2: an empty Host", ["Host:"]),
    acceptsFields("9112 §3.2: Host in any case", ["hOST: a"]),
    acceptsFields("9110 §7.2: Host with a port", ["Host: a.example:8080"]),
    acceptsFields("9110 §7.2: Host with an empty port", ["Host: a:"]),
    acceptsFields("9110 §7.2: Host is an IPv6 literal", ["Host: [2001:db8::1]:80"]),
    acceptsFields("9110 §7.2: Host is an IPv6 literal without a port", ["Host: [::1]"]),
    refusesFields("9112 §3.2: Host is missing", 400, ["X: 1"]),
    refuses("9112 §3.2: no fields at all", 400, "GET / HTTP/1.1\r\n\r\n"),
    refusesFields("9112 §3.2: Host twice", 400, ["Host: a", "Host: a"]),
    refusesFields("9112 §3.2: Host twice, in two cases", 400, ["Host: a", "HOST: b"]),
    refusesFields("9112 §3.2: Host with user information", 400, ["Host: u@a"]),
    refusesFields("9112 §3.2: Host with a path", 400, ["Host: a/b"]),
    refusesFields("9112 §3.2: Host with a blank", 400, ["Host: a b"]),
    refusesFields("9112 §3.2: Host is a list", 400, ["Host: a, b"]),
    refusesFields("9112 §3.2: Host with a port of letters", 400, ["Host: a:b"]),
    refusesFields("9112 §3.2: Host with two ports", 400, ["Host: a:1:2"]),
    refusesFields("9112 §3.2: Host is a port alone", 400, ["Host: :80"]),
    refusesFields("9112 §3.2: Host with an empty literal", 400, ["Host: []"]),
    refusesFields("9112 §3.2: Host with an open literal", 400, ["Host: [::1"]),
    refusesFields("9112 §3.2: Host with text after a literal", 400, ["Host: [::1]a"]),
    refusesFields("9112 §3.2: Host with a bracket inside", 400, ["Host: a]"]),
    refuses(
      "9112 §3.2.2: absolute-form does not replace Host", 400, "GET http://a/ HTTP/1.1\r\nX: 1\r\n\r\n"),

    accepts(
      "9112 §9.3: HTTP/1.0 needs no Host and closes", "GET / HTTP/1.0\r\n\r\n", minorVersion: 0, keepsAlive: false),
    accepts(
      "9112 §C.2.2: HTTP/1.0 may ask to be kept alive", "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n",
      minorVersion: 0),
    refuses("9112 §3.2: HTTP/1.0 with Host twice", 400, "GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n"),
    acceptsFields("9112 §9.6: close", ["Host: a", "Connection: close"], keepsAlive: false),
    acceptsFields("9110 §7.6.1: close in a list", ["Host: a", "Connection: x ,\tCLOSE , "], keepsAlive: false),
    acceptsFields(
      "9110 §7.6.1: close in a second field", ["Host: a", "Connection: x", "Connection: close"], keepsAlive: false),
    acceptsFields(
      "9112 §9.3: close outweighs keep-alive", ["Host: a", "Connection: keep-alive, close"], keepsAlive: false),
    acceptsFields("9110 §7.6.1: an option that only contains close", ["Host: a", "Connection: closed"]),
    acceptsFields("9110 §7.6.1: an empty Connection", ["Host: a", "Connection:"]),

    acceptsFields("9110 §10.1.1: 100-continue", ["Host: a", "Expect: 100-CONTINUE", "Content-Length: 1"], body: "x"),
    refusesFields("9110 §10.1.1: another expectation", 417, ["Host: a", "Expect: tea"]),
    refusesFields("9110 §10.1.1: another expectation beside", 417, ["Host: a", "Expect: 100-continue", "Expect: tea"]),
    accepts(
      "9110 §10.1.1: an expectation of HTTP/1.0 is ignored", "GET / HTTP/1.0\r\nExpect: tea\r\n\r\n",
      minorVersion: 0, keepsAlive: false),
    incomplete("9112 §2.1: the empty line is still to come", "GET / HTTP/1.1\r\nHost: a\r\n"),
    incomplete("9112 §2.1: the LF of the empty line is still to come", "GET / HTTP/1.1\r\nHost: a\r\n\r"),
  ]
}

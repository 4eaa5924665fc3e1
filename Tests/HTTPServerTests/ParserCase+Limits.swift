extension ParserCase {
  /// The limits of ``ParserLimits/small``: 256 bytes in 8 fields, a target of 48, a body of 64.
  static let limits: [ParserCase] = [
    acceptsLine("9112 §3: the longest target", "GET /" + letters(47) + " HTTP/1.1", path: "/" + letters(47)),
    refusesLine("9110 §15.5.15: a target one byte longer", 414, "GET /" + letters(48) + " HTTP/1.1"),
    refuses("9110 §15.5.15: a target without an end", 414, "GET /" + letters(200)),
    acceptsLine("9112 §3: the longest method", letters(32) + " / HTTP/1.1", method: letters(32)),
    refusesLine("9110 §15.6.2: a method one byte longer", 501, letters(33) + " / HTTP/1.1"),
    // Before its end is seen, the error says only that the line is too long.
    refuses("9110 §15.5.15: a method without an end", 414, letters(200)),

    incomplete("9112 §3: the longest line that may yet be one", "GET /" + letters(87)),
    refuses("9110 §15.5.15: a line that is too long to be one", 414, "GET /" + letters(88)),

    accepts(
      "6585 §5: as many fields as may be", "GET / HTTP/1.1\r\nHost: a\r\n" + fieldLines(7) + "\r\n"),
    refuses("6585 §5: one field more", 431, "GET / HTTP/1.1\r\nHost: a\r\n" + fieldLines(8) + "\r\n"),
    // The empty line counts too: 9 + 245 + 2 = 256.
    accepts("6585 §5: the longest header section", "GET / HTTP/1.1\r\nHost: a\r\nX: " + letters(240) + "\r\n\r\n"),
    refuses(
      "6585 §5: a header section one byte longer", 431, "GET / HTTP/1.1\r\nHost: a\r\nX: " + letters(241) + "\r\n\r\n"),
    incomplete("6585 §5: the longest section that may yet end", "GET / HTTP/1.1\r\nHost: a\r\nX: " + letters(244)),
    refuses("6585 §5: a section that is too long to end", 431, "GET / HTTP/1.1\r\nHost: a\r\nX: " + letters(245)),
    refuses("6585 §5: a field without an end", 431, "GET / HTTP/1.1\r\nHost: a\r\nX: " + letters(400)),

    acceptsFields("9110 §15.5.14: the largest body", ["Host: a", "Content-Length: 64"], body: letters(64)),
    // Reported before a byte of it has arrived.
    refusesFields("9110 §15.5.14: a body one byte larger", 413, ["Host: a", "Content-Length: 65"]),
    chunked(
      "9110 §15.5.14: the largest chunked body", "20\r\n" + letters(32) + "\r\n20\r\n" + letters(32) + "\r\n0\r\n\r\n",
      letters(64)),
    refusesChunked("9110 §15.5.14: a chunk that is too large", 413, "41\r\n"),
    refusesChunked("9110 §15.5.14: a second chunk that is too large", 413, "20\r\n" + letters(32) + "\r\n21\r\n"),
    refusesChunked("9112 §7.1.1: extensions without an end", 400, "1;" + letters(300)),
    refusesChunked(
      "9112 §7.1.1: extensions that add up", 400,
      String(repeating: "1;" + letters(30) + "\r\nx\r\n", count: 20)),
    refusesChunked("9112 §7.1.2: trailers that are too long", 431, "0\r\nX: " + letters(300)),
    refusesChunked("9112 §7.1.2: too many trailers", 431, "0\r\n" + fieldLines(9) + "\r\n"),
    chunked("9112 §7.1.2: as many trailers as may be", "0\r\n" + fieldLines(8) + "\r\n", ""),
  ]

  private static func letters(_ count: Int) -> String { String(repeating: "x", count: count) }

  private static func fieldLines(_ count: Int) -> String { String(repeating: "X: 1\r\n", count: count) }
}

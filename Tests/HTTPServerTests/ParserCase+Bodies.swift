extension ParserCase {
  /// RFC 9110 section 8.6, RFC 9112 sections 6.1 to 6.3.
  static let lengths: [ParserCase] = [
    acceptsFields("9112 §6.2: Content-Length", ["Host: a", "Content-Length: 5"], body: "hello"),
    acceptsFields("9112 §6.2: a length of zero", ["Host: a", "Content-Length: 0"]),
    acceptsFields("9112 §6.2: leading zeros", ["Host: a", "Content-Length: 000000000000000000000005"], body: "hello"),
    acceptsFields("9112 §6.3: neither field, no body", ["Host: a"]),
    accepts(
      "9110 §9.3.1: GET may have content", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok", body: "ok"),
    acceptsFields("9110 §8.6: a list of one value", ["Host: a", "Content-Length: 2, 2 ,\t2"], body: "ok"),
    acceptsFields("9110 §8.6: one value twice", ["Host: a", "Content-Length: 2", "Content-Length: 02"], body: "ok"),
    refusesFields("9112 §6.3: lengths that differ", 400, ["Host: a", "Content-Length: 2", "Content-Length: 3"]),
    refusesFields("9112 §6.3: a list of lengths that differ", 400, ["Host: a", "Content-Length: 2, 3"], body: "abc"),
    refusesFields("9112 §6.3: a list with an empty element", 400, ["Host: a", "Content-Length: 2,,2"], body: "ok"),
    refusesFields("9112 §6.3: a list that ends in a comma", 400, ["Host: a", "Content-Length: 2,"], body: "ok"),
    refusesFields("9112 §6.3: an empty length", 400, ["Host: a", "Content-Length:"]),
    refusesFields("9112 §6.3: a sign", 400, ["Host: a", "Content-Length: +2"], body: "ok"),
    refusesFields("9112 §6.3: a negative length", 400, ["Host: a", "Content-Length: -2"], body: "ok"),
    refusesFields("9112 §6.3: a hexadecimal length", 400, ["Host: a", "Content-Length: 0x2"], body: "ok"),
    refusesFields("9112 §6.3: a fraction", 400, ["Host: a", "Content-Length: 2.0"], body: "ok"),
    refusesFields("9112 §6.3: digits apart", 400, ["Host: a", "Content-Length: 1 0"], body: "0123456789"),
    refusesFields("9110 §8.6: a length of 2^63", 413, ["Host: a", "Content-Length: 9223372036854775808"]),
    refusesFields(
      "9110 §8.6: a length of 2^64 + 2", 413, ["Host: a", "Content-Length: 18446744073709551618"], body: "ok"),
    refusesFields("9110 §8.6: two lengths that overflow", 413, ["Host: a", "Content-Length: 99999999999999999999"]),
    incomplete("9112 §6.2: the body is still to come", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhell"),

    refusesFields(
      "9112 §6.1: Transfer-Encoding and Content-Length", 400,
      ["Host: a", "Transfer-Encoding: chunked", "Content-Length: 5"], body: "0\r\n\r\n"),
    refusesFields(
      "9112 §6.1: Content-Length and Transfer-Encoding", 400,
      ["Host: a", "Content-Length: 5", "transfer-encoding: CHUNKED"], body: "0\r\n\r\n"),
    refuses(
      "9112 §6.1: Transfer-Encoding in HTTP/1.0", 400,
      "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    refusesFields("9112 §6.1: an unknown coding before chunked", 501, ["Host: a", "Transfer-Encoding: gzip, chunked"]),
    refusesFields(
      "9112 §6.1: an unknown coding in a field before", 501,
      ["Host: a", "Transfer-Encoding: gzip", "Transfer-Encoding: chunked"]),
    refusesFields("9112 §6.3: chunked is not last", 400, ["Host: a", "Transfer-Encoding: chunked, gzip"]),
    refusesFields("9112 §6.3: chunked is not there", 400, ["Host: a", "Transfer-Encoding: gzip"]),
    refusesFields("9112 §7: identity is gone", 400, ["Host: a", "Transfer-Encoding: identity"]),
    refusesFields("9112 §6.1: chunked twice", 400, ["Host: a", "Transfer-Encoding: chunked, chunked"]),
    refusesFields(
      "9112 §6.1: chunked in two fields", 400, ["Host: a", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"]),
    refusesFields("9112 §7.1: chunked with a parameter", 400, ["Host: a", "Transfer-Encoding: chunked;x=1"]),
    refusesFields("9112 §6.1: an empty coding", 400, ["Host: a", "Transfer-Encoding: ,chunked"]),
    refusesFields("9112 §6.1: no coding", 400, ["Host: a", "Transfer-Encoding:"]),
    refusesFields("9112 §6.1: a vertical tab beside chunked", 400, ["Host: a", "Transfer-Encoding: \u{0B}chunked"]),
    refusesFields("9112 §6.1: quotes around chunked", 400, ["Host: a", "Transfer-Encoding: \"chunked\""]),
  ]

  /// RFC 9112 section 7.1.
  static let chunks: [ParserCase] = [
    chunked("9112 §7.1: one chunk", "5\r\nhello\r\n0\r\n\r\n", "hello"),
    chunked("9112 §7.1: chunks in a row", "3\r\nhel\r\n1\r\nl\r\n1\r\no\r\n0\r\n\r\n", "hello"),
    chunked("9112 §7.1: no data", "0\r\n\r\n", ""),
    chunked(
      "9112 §7.1: hexadecimal in both cases", "A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789"),
    chunked("9112 §7.1: leading zeros", "0005\r\nhello\r\n000\r\n\r\n", "hello"),
    chunked("9112 §7.1: data that looks like framing", "7\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n", "\r\n0\r\n\r\n"),
    chunked("9112 §7.1.1: extensions", "5;a;b=c;d=\"e ; f\"\r\nhello\r\n0;last\r\n\r\n", "hello"),
    chunked("9112 §7.1.1: blanks before an extension", "5 \t;a\r\nhello\r\n0\r\n\r\n", "hello"),
    chunked("9112 §7.1.2: trailers are dropped", "5\r\nhello\r\n0\r\nX: 1\r\nContent-Length: 9\r\n\r\n", "hello"),
    pipelined(
      "9112 §7.1: a request follows a chunked one", 2,
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nT: 1\r\n\r\n"
        + "GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
    refusesChunked("9112 §7.1: no size", 400, "\r\nhello\r\n0\r\n\r\n"),
    refusesChunked("9112 §7.1: a size that is no number", 400, "x\r\nhello\r\n0\r\n\r\n"),
    refusesChunked("9112 §7.1: a size with 0x", 400, "0x5\r\nhello\r\n0\r\n\r\n"),
    refusesChunked("9112 §7.1: a size with a sign", 400, "+5\r\nhello\r\n0\r\n\r\n"),
    refusesChunked("9112 §7.1: a negative size", 400, "-1\r\nhello\r\n0\r\n\r\n"),
    refusesChunked("9112 §7.1: a blank before the size", 400, " 5\r\nhello\r\n0\r\n\r\n"),
    refusesChunked("9112 §7.1: a blank after the size, no extension", 400, "5 \r\nhello\r\n0\r\n\r\n"),
    refusesChunked("9112 §7.1: a size of more than 64 bits", 413, "10000000000000005\r\nhello\r\n0\r\n\r\n"),
    refusesChunked("9112 §7.1: a size of 2^63", 413, "8000000000000000\r\nhello\r\n0\r\n\r\n"),
    refusesChunked("9112 §7.1: too many zeros", 400, "00000000000000005\r\nhello\r\n0\r\n\r\n"),
    refusesChunked("9112 §7.1: a chunk longer than its size", 400, "4\r\nhello\r\n0\r\n\r\n"),
    refusesChunked("9112 §7.1: a chunk shorter than its size", 400, "6\r\nhello\r\n0\r\n\r\n"),
    refusesChunked("9112 §2.2: a size ends in a bare LF", 400, "5\nhello\r\n0\r\n\r\n"),
    refusesChunked("9112 §2.2: a size ends in a bare CR", 400, "5\rhello\r\n0\r\n\r\n"),
    refusesChunked("9112 §2.2: data ends in a bare LF", 400, "5\r\nhello\n0\r\n\r\n"),
    refusesChunked("9112 §2.2: data ends in a bare CR", 400, "5\r\nhello\r0\r\n\r\n"),
    refusesChunked("9112 §7.1.1: a bare LF in an extension", 400, "5;a\nhello\r\n0\r\n\r\n"),
    chunked(
      "9112 §7.1.1: blanks around names and values, and a quoted pair",
      "5; a = b ; c\t=\t\"\\\" ;\";d\r\nhello\r\n0\r\n\r\n", "hello"),
    refusesChunked("9112 §7.1.1: a bare semicolon", 400, "5;\r\nhello\r\n0\r\n\r\n"),
    refusesChunked("9112 §7.1.1: a semicolon after another", 400, "5;;a\r\nhello\r\n0\r\n\r\n"),
    refusesChunked("9112 §7.1.1: a name that is no token", 400, "5;a@b\r\nhello\r\n0\r\n\r\n"),
    refusesChunked("9112 §7.1.1: a name with a blank in it", 400, "5;a b\r\nhello\r\n0\r\n\r\n"),
    refusesChunked("9112 §7.1.1: no name before a value", 400, "5;=b\r\nhello\r\n0\r\n\r\n"),
    refusesChunked("9112 §7.1.1: no value after a name", 400, "5;a=\r\nhello\r\n0\r\n\r\n"),
    refusesChunked("9112 §7.1.1: an open quote", 400, "5;a=\"b\r\nhello\r\n0\r\n\r\n"),
    refusesChunked("9112 §7.1.1: text after a closed quote", 400, "5;a=\"b\"c\r\nhello\r\n0\r\n\r\n"),
    refusesChunked("9112 §7.1.1: a blank after the last extension", 400, "5;a \r\nhello\r\n0\r\n\r\n"),
    refusesChunked("9112 §7.1.1: a NUL in an extension", 400, "5;\u{0}\r\nhello\r\n0\r\n\r\n"),
    refusesChunked("9112 §7.1.2: a trailer without a colon", 400, "0\r\nX\r\n\r\n"),
    refusesChunked("9112 §7.1.2: a folded trailer", 400, "0\r\nX: 1\r\n 2\r\n\r\n"),
    refusesChunked("9112 §7.1.2: a blank before a trailer's colon", 400, "0\r\nX : 1\r\n\r\n"),
    refusesChunked("9112 §7.1.2: a trailer ends in a bare LF", 400, "0\r\nX: 1\n\r\n"),
    refusesChunked("9112 §7.1.2: a trailer ends in a bare CR", 400, "0\r\nX: 1\rY: 2\r\n\r\n"),
    refusesChunked("9112 §7.1.2: the last line is a bare LF", 400, "0\r\n\n"),
    refusesChunked("9112 §7.1.2: the last line is CR CR", 400, "0\r\n\r\r\n"),
    incomplete(
      "9112 §8: the last chunk is missing",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"),
  ]
}

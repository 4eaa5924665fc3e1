import Testing

@testable import HTTPServer

@Suite("A written response")
struct ResponseWriterTests {
  private func write(
    _ response: HTTPResponse, isHead: Bool = false, persistence: ResponseWriter.Persistence = .implied
  ) -> String {
    var output = ByteBuffer()
    ResponseWriter.append(
      response, to: &output, dateLine: Array("Date: D\r\n".utf8), isHead: isHead, persistence: persistence)
    return output.text
  }

  @Test("has a status line, Date, the handler's fields, Content-Length and the body")
  func isWhole() {
    let response = HTTPResponse(
      status: 200, headers: [HTTPHeader("A", "1"), HTTPHeader("B", "")], body: Array("ok".utf8))
    #expect(write(response) == "HTTP/1.1 200 OK\r\nDate: D\r\nA: 1\r\nB: \r\nContent-Length: 2\r\n\r\nok")
  }

  @Test("says whether the connection stays open")
  func saysPersistence() {
    let response = HTTPResponse(status: 200)
    let start = "HTTP/1.1 200 OK\r\nDate: D\r\nContent-Length: 0\r\n"
    #expect(write(response, persistence: .close) == start + "Connection: close\r\n\r\n")
    #expect(write(response, persistence: .keepAlive) == start + "Connection: keep-alive\r\n\r\n")
  }

  @Test("never lets a field begin another line")
  func keepsLines() {
    let response = HTTPResponse(
      status: 200,
      headers: [
        HTTPHeader("A", "1\r\nB: 2\n\0\u{7F}é"), HTTPHeader("C\r\nD", "3"), HTTPHeader("E ", "4"), HTTPHeader("", "5"),
        HTTPHeader("F:", "6"),
      ])
    #expect(write(response) == "HTTP/1.1 200 OK\r\nDate: D\r\nA: 1  B: 2   é\r\nContent-Length: 0\r\n\r\n")
  }

  @Test(
    "leaves out the fields that belong to the server",
    arguments: [
      "Date", "CONNECTION", "content-length", "Transfer-Encoding",
    ])
  func leavesOutReserved(name: String) {
    let response = HTTPResponse(status: 200, headers: [HTTPHeader(name, "7"), HTTPHeader(name + "x", "8")])
    #expect(write(response) == "HTTP/1.1 200 OK\r\nDate: D\r\n\(name)x: 8\r\nContent-Length: 0\r\n\r\n")
  }

  @Test("has content only where RFC 9110 lets it")
  func limitsContent() {
    let body = Array("ok".utf8)
    #expect(write(HTTPResponse(status: 204, body: body)) == "HTTP/1.1 204 No Content\r\nDate: D\r\n\r\n")
    #expect(write(HTTPResponse(status: 304, body: body)) == "HTTP/1.1 304 Not Modified\r\nDate: D\r\n\r\n")
    #expect(
      write(HTTPResponse(status: 205, body: body))
        == "HTTP/1.1 205 Reset Content\r\nDate: D\r\nContent-Length: 0\r\n\r\n")
    #expect(
      write(HTTPResponse(status: 200, body: body), isHead: true)
        == "HTTP/1.1 200 OK\r\nDate: D\r\nContent-Length: 2\r\n\r\n")
  }

  @Test(
    "has a valid status",
    arguments: [
      (100, "500 Internal Server Error"), (-1, "500 Internal Server Error"), (600, "500 Internal Server Error"),
      (299, "299 "), (599, "599 "), (429, "429 Too Many Requests"), (503, "503 Service Unavailable"),
    ])
  func correctsStatus(status: Int, line: String) {
    #expect(write(HTTPResponse(status: status)).hasPrefix("HTTP/1.1 \(line)\r\n"))
  }

  @Test(
    "has a date in the form of RFC 9110 section 5.6.7",
    arguments: [
      (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
      (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
      (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"), (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
    ])
  func writesDates(seconds: Int, expected: String) {
    var text: [UInt8] = []
    DateText.append(seconds, to: &text)
    #expect(String(decoding: text, as: UTF8.self) == expected)
  }
}

extension ByteBuffer {
  /// The content, as text.
  var text: String { String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self) }
}

import RedialModel
import Testing
import RedialJSON

@Suite("The stored figures of an exchange")
struct ExchangeFiguresTests {
  private var sample: ExchangeFigures {
    var figures = ExchangeFigures(phase: .response)
    (figures.resolved, figures.connected, figures.secured, figures.firstByte) = (12, 345, 6789, 1_234_567)
    (figures.bytesSent, figures.bytesReceived, figures.redirects) = (600, 1 << 40, 2)
    (figures.remoteAddress, figures.remotePort) = (IPAddress(canonical: "93.184.216.34"), 443)
    (figures.version, figures.isReused) = (.http2, true)
    return figures
  }

  @Test("they are read back as they were stored")
  func roundTrip() {
    var figures = sample
    #expect(ExchangeFigures(encoded: figures.encoded) == figures)
    #expect(figures.encoded.count < 40)
    figures.remoteAddress = IPAddress(canonical: "2001:db8::7")
    #expect(ExchangeFigures(encoded: figures.encoded) == figures)
    for phase in ExchangeFigures.Phase.allCases {
      let bare = ExchangeFigures(phase: phase)
      #expect(ExchangeFigures(encoded: bare.encoded) == bare)
    }
  }

  @Test("truncated or changed bytes are read as figures or as nil, and never crash")
  func damaged() {
    let whole = sample.encoded
    for length in 0..<whole.count { #expect(ExchangeFigures(encoded: Array(whole[..<length])) == nil) }
    for index in whole.indices {
      for value in UInt8.min...UInt8.max {
        var bytes = whole
        bytes[index] = value
        _ = ExchangeFigures(encoded: bytes)
      }
    }
    #expect(ExchangeFigures(encoded: whole + [0]) == nil)
  }

  @Test("people see times from the start, bytes, and the connection")
  func shown() {
    var writer = JSONWriter(capacity: 256)
    sample.write(to: &writer)
    #expect(
      String(decoding: writer.bytes, as: UTF8.self)
        == #"{"phase":"response","resolved":"0.012ms","connected":"0.345ms","secured":"6.789ms","firstByte":"1.234567s","#
        + #""bytesSent":600,"bytesReceived":1099511627776,"redirectCount":2,"remoteAddress":"93.184.216.34:443","#
        + #""httpVersion":"2","connectionReused":true}"#)
  }
}

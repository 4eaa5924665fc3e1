import CCurl
import Testing

@testable import RedialTransport

@Suite("The wait for a name")
struct NamingTests {
  @Test("the time of a request stands still for libcurl and goes on while it waits")
  func spends() {
    let start = ContinuousClock.now
    var suspension = Suspension()
    suspension.begin(at: start, spent: .milliseconds(20))
    #expect(suspension.isSuspended == true)
    suspension.end(at: start + .milliseconds(300))
    suspension.end(at: start + .milliseconds(900))
    #expect(suspension.since == nil)
    #expect(suspension.spent == .milliseconds(320))
    // Until libcurl runs again, its own clock says nothing.
    #expect(suspension.isSuspended == true)
    suspension.resume()
    #expect(suspension.isSuspended == false)
  }

  @Test("a name that libcurl never finds is looked up eight times at most")
  func ends() {
    var naming = Naming()
    var lookups = 0
    while naming.mayLookUp, lookups < 100 {
      naming.want("a.example", port: 80)
      #expect(naming.isWanted == true)
      naming.beginWaiting()
      #expect(naming.isWanted == false)
      #expect(naming.isWaiting == true)
      naming.endWaiting()
      #expect(naming.isWaiting == false)
      lookups += 1
    }
    #expect(lookups == 8)
    naming.begin()
    #expect(naming.mayLookUp == true)
  }

  @Test("the address of a connection is read anew when it differs")
  func remoteAddress() {
    var remote = RemoteAddress()
    let texts = ["192.0.2.1", "192.0.2.1", "192.0.2.11", "2001:db8::1", "no address", "192.0.2.1"]
    let found = texts.map { text in text.withCString { remote.address($0) } }
    #expect(found.map { $0.map(String.init(describing:)) == nil } == [false, false, false, false, true, false])
    #expect(found[0] == found[1] && found[0] != found[2] && found[2] != found[3] && found[0] == found[5])
  }

  @Test("a message of this side replaces libcurl's, and is cut at the end of its memory")
  func message() {
    let message = ErrorMessage()
    #expect(message.text(for: CURLE_COULDNT_CONNECT) == String(cString: curl_easy_strerror(CURLE_COULDNT_CONNECT)))
    message.set("It took too long.")
    #expect(message.text(for: CURLE_COULDNT_CONNECT) == "It took too long")
    message.set(String(repeating: "a", count: 1000))
    #expect(message.text(for: CURLE_OK).count == Int(CURL_ERROR_SIZE) - 1)
    message.clear()
    #expect(message.text(for: CURLE_COULDNT_CONNECT) != "")
  }
}

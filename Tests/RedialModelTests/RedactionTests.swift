import RedialCore
import RedialModel
import Testing

@Suite("Hidden secrets")
struct RedactionTests {
  @Test(
    "only the values of a URL's secret parameters are hidden",
    arguments: [
      ("https://x.example/", "https://x.example/"),
      ("https://x.example/token=1/key", "https://x.example/token=1/key"),
      ("https://x/?token=abc", "https://x/?token=REDACTED"),
      ("https://x/p?a=1&API_KEY=abc&b=2", "https://x/p?a=1&API_KEY=REDACTED&b=2"),
      ("https://x/?access_token=a.b-c%20d;sig=%2F", "https://x/?access_token=REDACTED;sig=REDACTED"),
      ("https://x/?X-Amz-Signature=f&X-Amz-Date=1", "https://x/?X-Amz-Signature=REDACTED&X-Amz-Date=1"),
      ("https://x/?apiKey=1&monkey=2&MONKEY=3&keys=4", "https://x/?apiKey=REDACTED&monkey=2&MONKEY=3&keys=4"),
      ("https://x/?%74oken=1&user%5Bpassword%5D=2", "https://x/?%74oken=REDACTED&user%5Bpassword%5D=REDACTED"),
      ("https://x/?user[password]=2", "https://x/?user[password]=REDACTED"),
      ("https://x/?token=a=b&token=c", "https://x/?token=REDACTED&token=REDACTED"),
      ("https://x/?token=&token&key", "https://x/?token=&token&key"),
      ("https://x/?a=1?token=2#access_token=3&x=4", "https://x/?a=1?token=REDACTED#access_token=REDACTED&x=4"),
      ("https://x/#secret=3", "https://x/#secret=REDACTED"),
      ("https://x/?token=%&t%6", "https://x/?token=REDACTED&t%6"),
    ])
  func urls(url: String, shown: String) {
    #expect(Redaction().url(url) == shown)
    #expect(Redaction().url(shown) == shown)
  }

  @Test("the names can be set, in any case")
  func names() {
    let redaction = Redaction(headers: ["X-Mine"], parameters: ["Code"])
    #expect(
      redaction.url("http://x/?code=1&token=2&auth_code=3") == "http://x/?code=REDACTED&token=2&auth_code=REDACTED")
    #expect(redaction.hidesHeader("x-mine") && redaction.hidesHeader("X-MINE") && !redaction.hidesHeader("cookie"))
    #expect(redaction.hidesHeader("Cookie", ["cookie"]))
    #expect(Redaction(headers: [], parameters: []).url("http://x/?token=1") == "http://x/?token=1")
  }

  @Test("secret values of a response's header are hidden, and secrets in its links")
  func lines() {
    let head = HeaderBlock(
      bytes: Array(
        "Set-Cookie: a=b\r\nX-A:1\r\nbroken\r\nset-cookie:c\r\nLocation: /x?token=1&a=2\r\nX-B: 2\r\n".utf8))
    #expect(
      String(decoding: head.redacted(by: Redaction(), and: ["x-b"]).bytes, as: UTF8.self)
        == "Set-Cookie: REDACTED\r\nX-A:1\r\nbroken\r\nset-cookie: REDACTED\r\n"
        + "Location: /x?token=REDACTED&a=2\r\nX-B: REDACTED\r\n")
    let plain = HeaderBlock(bytes: Array("X-A: 1\r\nLocation: /y?a=2\r\nno end".utf8))
    #expect(plain.redacted(by: Redaction(), and: ["x-b"]) == plain)
  }

  @Test("a call is stored whole, and shown without its secrets")
  func spec() throws {
    let spec = CallSpec(
      url: "https://x/?sig=1", method: "POST",
      headers: [HeaderField("Authorization", "Bearer s"), HeaderField("X-Pin", "1"), HeaderField("X-A", "2")],
      target: "t", policy: .service, captureLimit: 10
    ) {
      $0.callback = Callback(url: "https://y/?key=2")
      $0.capture.redactedHeaders = ["x-pin"]
    }
    let shown = String(decoding: spec.redactedJSON(Redaction()), as: UTF8.self)
    for secret in ["Bearer", "sig=1", "key=2", #""X-Pin":"1""#] { #expect(!shown.contains(secret), "\(secret)") }
    #expect(shown.contains(#""X-A":"2""#) && shown.contains(#""Authorization":"REDACTED""#))
    let again = try spec.canonicalJSON.withUnsafeBufferPointer { try CallSpec.read(canonicalJSON: $0) }
    #expect(again.url == spec.url && again.headers == spec.headers && again.callback == spec.callback)
    #expect(again.redactedHeaders == ["x-pin"])
  }

  @Test(
    "a URL setting is shown without credentials and query, however it is mistyped",
    arguments: [
      ("http://ada:s3cret@proxy:3128", "http://REDACTED@proxy:3128"),
      ("htp://ada:s3cret@proxy", "htp://REDACTED@proxy"),
      ("http://ada:s3@cr/e?t#@proxy/", "http://REDACTED@proxy/"), ("ada:s3cret@proxy:3128", "REDACTED@proxy:3128"),
      ("http:/ada:s3cret@proxy", "REDACTED@proxy"),
      ("https://c.example/v1?key=s3cret", "https://c.example/v1?REDACTED"),
      ("https://c.example/#s3cret", "https://c.example/#REDACTED"), ("http://proxy:3128", "http://proxy:3128"),
      ("", ""),
      ("@", "REDACTED@"), ("postgres://u:s3cret@h/d?password=s3cret", "postgres://REDACTED@h/d?REDACTED"),
    ])
  func places(text: String, shown: String) {
    #expect(Redaction.place(text) == shown)
  }
}

/// What the current request of a handle and its response have to do with their connection.
struct Exchange {
  /// The connection; nil before the request is sent, and if it is not known.
  var connection: Connection?
  /// Where the response ends.
  var framing: ResponseFraming
  /// The length of the request's body.
  let contentSize: Int
  /// Whether what arrived was to something else than the request.
  var isForeign = false

  init(_ method: String = "", contentSize: Int = 0) {
    framing = ResponseFraming(method)
    self.contentSize = contentSize
  }
}

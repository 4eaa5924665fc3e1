internal import HTTPServer
internal import RedialModel

/// One operation of the API: its method and path, the permission that it needs, and the code that serves it.
struct Route: Sendable {
  /// Serves a request that was admitted. A problem that it throws becomes the answer.
  typealias Serve = @Sendable (borrowing HTTPRequest, Exchange) throws(Problem) -> Void
  /// Receives the body of a request as a stream.
  struct Receiving: Sendable {
    /// Whether a request's body is received as a stream. Called before the body arrives.
    let takes: @Sendable (borrowing HTTPRequest) -> Bool
    let receive: @Sendable (borrowing HTTPRequest, Exchange) throws(Problem) -> any HTTPBodyReceiver
  }

  /// Which of the instances that share a store has to serve a request.
  enum Server: Sendable {
    /// The one that received it.
    case any
    /// The one that runs the calls of its target. Its route forwards the request.
    case owner
    /// All of them, each for its targets. The route puts their answers together.
    case all
    /// The one that received it, and only requests of other instances: for clients the path does not exist.
    case peer
    /// The one with the first shard, which makes the changes of what belongs to no target.
    case leader
  }

  /// Nil for every method.
  let method: HTTPMethod?
  /// Such as `/v1/calls/{id}`: a part in braces may be anything. A path that ends in `/*` is the beginning of longer ones.
  let path: String
  let access: Access
  /// The permission that a request without a key needs; nil for the same as with one.
  let accessWithoutKey: Access?
  /// The meaning of the route for a web page.
  let exposure: PageGuard.Exposure
  /// Whether a problem counts as a refused submission.
  let isSubmission: Bool
  /// Which of the instances that share a store has to serve it.
  let server: Server
  /// Whether a body reaches it as it was sent, with its content coding.
  let takesCodedContent: Bool
  /// What the audit log calls it; nil for what it does not record.
  let audit: AuditAction?
  /// Only on a path without open parts.
  let receiving: Receiving?
  let serve: Serve

  init(
    _ method: HTTPMethod?, _ path: String, _ access: Access, withoutKey accessWithoutKey: Access? = nil,
    exposure: PageGuard.Exposure = .own, isSubmission: Bool = false, server: Server = .any,
    takesCodedContent: Bool = false, audit: AuditAction? = nil,
    receiving: Receiving? = nil,
    serve: @escaping Serve
  ) {
    self.method = method
    self.path = path
    self.access = access
    self.accessWithoutKey = accessWithoutKey
    self.exposure = exposure
    self.isSubmission = isSubmission
    self.server = server
    self.takesCodedContent = takesCodedContent
    self.audit = audit
    self.receiving = receiving
    self.serve = serve
  }
}

/// The operations on one kind of resource.
protocol RouteGroup: Sendable {
  var routes: [Route] { get }
}

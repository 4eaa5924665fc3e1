internal import HTTPServer

/// Finds the route of a request.
struct Router: Sendable {
  /// The route of a request.
  enum Match: Sendable {
    case found(Route, [Substring])
    /// The path exists for these methods.
    case wrongMethod(allowed: String)
    case notFound
  }

  /// The routes of one path.
  private struct Place: Sendable {
    var routes: [Route] = []

    func match(_ method: HTTPMethod, _ parts: [Substring]) -> Match {
      // HEAD uses the route of GET.
      let wanted = method == .head ? HTTPMethod.get : method
      for route in routes where route.method == nil || route.method == wanted { return .found(route, parts) }
      let allowed = routes.flatMap { $0.method == .get ? ["GET", "HEAD"] : [$0.method?.text ?? ""] }
      return .wrongMethod(allowed: allowed.joined(separator: ", "))
    }
  }

  /// A path with open parts.
  private struct Template: Sendable {
    /// Nil for an open part.
    let parts: [String?]
    var place: Place

    /// The open parts of a path; nil if it is another.
    func match(_ path: [Substring]) -> [Substring]? {
      guard path.count == parts.count else { return nil }
      var open: [Substring] = []
      for (part, wanted) in zip(path, parts) {
        guard let wanted else {
          open.append(part)
          continue
        }
        guard part == wanted else { return nil }
      }
      return open
    }
  }

  /// The paths without open parts, which are found without splitting them.
  private var fixed: [String: Place] = [:]
  private var templates: [Template] = []
  private var prefixes: [(prefix: String, place: Place)] = []
  /// By path, the routes that receive a body as a stream.
  private var receiving: [String: Route] = [:]

  init(_ groups: [any RouteGroup]) {
    for route in groups.flatMap(\.routes) { add(route) }
  }

  private mutating func add(_ route: Route) {
    if route.receiving != nil { receiving[route.path] = route }
    if route.path.hasSuffix("/*") {
      return prefixes.append((String(route.path.dropLast()), Place(routes: [route])))
    }
    guard route.path.contains("{") else { return fixed[route.path, default: Place()].routes.append(route) }
    let parts = Self.parts(of: route.path).map { $0.hasPrefix("{") ? nil : String($0) }
    if let index = templates.firstIndex(where: { $0.parts == parts }) {
      templates[index].place.routes.append(route)
    } else {
      templates.append(Template(parts: parts, place: Place(routes: [route])))
    }
  }

  /// The route of a request.
  func match(_ method: HTTPMethod, _ path: String) -> Match {
    if let place = fixed[path] { return place.match(method, []) }
    for (prefix, place) in prefixes where path.hasPrefix(prefix) {
      return place.match(method, [path.dropFirst(prefix.count)])
    }
    let parts = Self.parts(of: path)
    for template in templates {
      if let open = template.match(parts) { return template.place.match(method, open) }
    }
    return .notFound
  }

  /// The route that receives the body of a request to this path as a stream; nil if there is none.
  func receiver(_ method: HTTPMethod, _ path: String) -> Route? {
    guard let route = receiving[path], route.method == method else { return nil }
    return route
  }

  private static func parts(of path: String) -> [Substring] {
    path.split(separator: "/", omittingEmptySubsequences: false)
  }
}

internal import HTTPServer

extension ServiceSettings {
  var httpConfiguration: HTTPServerConfiguration {
    var configuration = http
    configuration.address = listen
    configuration.socketPermissions = socketPermissions
    configuration.loops = loops
    configuration.maxConnections = maxConnections
    configuration.maxBodyBytes = maxDescriptorBytes
    configuration.maxInflationRatio = maxInflationRatio
    configuration.gzipLevel = gzipLevel
    configuration.gzipMinBytes = gzipMinBytes
    // A page of another origin can neither load an answer as its script or picture, nor let the browser guess its
    // type.
    configuration.commonHeaders = [
      HTTPHeader("X-Content-Type-Options", "nosniff"), HTTPHeader("Cross-Origin-Resource-Policy", "same-origin"),
    ]
    return configuration
  }
}

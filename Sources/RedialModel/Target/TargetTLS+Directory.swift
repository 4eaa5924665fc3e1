import RedialText

/// Where the files in a target's settings may be.
///
/// A client that may configure targets must not find out through Redial which files exist on its machine, nor whether
/// Redial may read them. So a path outside the directory is refused for that reason, without examining the file.
extension TargetTLS {
  /// What is wrong with the paths, each with its pointer; empty if all of them lead into the directory.
  ///
  /// Only the text of a path is checked: links within the directory are the decision of its owner.
  ///
  /// - Parameter directory: The absolute path of the only allowed directory; nil for none.
  public func faults(outside directory: String?) -> [Problem.Fault] {
    [("/tls/certificate", certificate), ("/tls/key", key), ("/tls/caFile", caFile)].compactMap { pointer, path in
      guard let path else { return nil }
      guard let directory else {
        return .init(
          pointer: pointer, detail: "names a file, but the setting tlsDirectory is empty")
      }
      return Self.leads(path, into: directory)
        ? nil : .init(pointer: pointer, detail: "must be the path of a file in \(directory), without . or .. in it")
    }
  }

  /// The settings without the files that may not be named today: they were set before there was a directory for such files, or
  /// while it was another. Pins and the version stay.
  ///
  /// - Returns: Nil if they set nothing then; and the pointers of the members that do not apply.
  public func applicable(in directory: String?) -> (tls: TargetTLS?, leftOut: [String]) {
    let members = faults(outside: directory).map(\.place.name)
    guard !members.isEmpty else { return (self, []) }
    var tls = self
    if members.contains("/tls/certificate") || members.contains("/tls/key") {
      // One is useless without the other.
      tls.certificate = nil
      tls.key = nil
    }
    if members.contains("/tls/caFile") { tls.caFile = nil }
    return (tls.setsNothing ? nil : tls, members)
  }

  private static func leads(_ path: String, into directory: String) -> Bool {
    func names(_ path: String) -> [Substring] { path.split(separator: "/", omittingEmptySubsequences: true) }
    let (folder, file) = (names(directory), names(path))
    return path.hasPrefix("/") && file.count > folder.count && file.starts(with: folder)
      && !file.contains(".") && !file.contains("..")
  }
}

extension TargetOverrides {
  /// Refuses a file outside the directory for such files.
  ///
  /// - Throws: A problem of status 422 that names each wrong member.
  public func checkFiles(in directory: String?) throws(Problem) {
    try Self.refuse(tls?.faults(outside: directory) ?? [])
  }

  /// Refuses TLS settings that would apply to no origin.
  ///
  /// - Parameter key: The key of the target with the settings.
  /// - Throws: A problem of status 422.
  public func checkOrigins(of key: TargetKey) throws(Problem) {
    guard let tls, tls.origins(of: key).isEmpty else { return }
    try Self.refuse([
      .init(
        pointer: "/tls/origins",
        detail: "is required, because this target's key is not an origin: list the origins of the settings, such as "
          + "[\"https://api.example.com\"]")
    ])
  }

  private static func refuse(_ faults: [Problem.Fault]) throws(Problem) {
    if let problem = Problem(.invalidTargetSettings, faults: faults) { throw problem }
  }
}

extension Namespace {
  /// The directory with the files that the TLS settings of the namespace's targets may name: the subdirectory with its
  /// own name, so that nobody uses another tenant's certificate. The default namespace, the operator's, has the whole
  /// directory.
  ///
  /// - Parameter directory: The setting `tlsDirectory`; nil if no file may be named.
  public func tlsDirectory(in directory: String?) -> String? {
    guard !isDefault, let directory else { return directory }
    return directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)"
  }
}

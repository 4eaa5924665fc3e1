internal import RedialModel

extension Namespace {
  /// The directory whose files the TLS settings of the namespace's targets may name: that of its own name in the one that
  /// is set, so that nobody shows a certificate of somebody else's. The default namespace, which is that of who operates
  /// the service, has the whole.
  ///
  /// - Parameter directory: The setting `tlsDirectory`; nil where no file may be named.
  func tlsDirectory(in directory: String?) -> String? {
    guard !isDefault, let directory else { return directory }
    return directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)"
  }
}

internal import RedialModel

extension Namespace {
  /// The directory with the files that the TLS settings of the namespace's targets may name: the subdirectory with its
  /// own name, so that nobody uses another tenant's certificate. The default namespace, the operator's, has the whole
  /// directory.
  ///
  /// - Parameter directory: The setting `tlsDirectory`; nil if no file may be named.
  func tlsDirectory(in directory: String?) -> String? {
    guard !isDefault, let directory else { return directory }
    return directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)"
  }
}

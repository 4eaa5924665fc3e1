internal import RedialText

/// Names that are parts of paths.
enum PathSegment {
  /// What is wrong with a name that no client can put into a path: in URLs `.` and `..` name the folder and the one above it,
  /// also percent-encoded (WHATWG URL §4.1); nil for others.
  static func fault(in name: String) -> String? {
    guard name.utf8.count <= 6 else { return nil }
    let plain = name.lowercased().replacing("%2e", with: ".")
    guard plain == "." || plain == ".." else { return nil }
    return "must not be \"\(name)\", which no URL can have as a part of its path; choose another name"
  }

  /// Those names, as a regular expression.
  static let pattern = "([.]|%2[Ee]){1,2}"
}

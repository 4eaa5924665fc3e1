/// The words of a name in camelCase, as flags and environment variables separate them.
struct CamelCaseWords {
  /// The words, in lower case.
  let words: [String]

  /// Splits a name. Consecutive capitals are one word, an acronym, except the last one if it begins another word:
  /// `minTLS` is min-tls, `maxTLSVersion` max-tls-version.
  init(_ name: String) {
    let characters = Array(name)
    var words = [""]
    for (index, character) in characters.enumerated() {
      if index > 0, character.isUppercase {
        let endsAcronym = index + 1 < characters.count && characters[index + 1].isLowercase
        if !characters[index - 1].isUppercase || endsAcronym { words.append("") }
      }
      words[words.count - 1].append(character.lowercased())
    }
    self.words = words
  }
}

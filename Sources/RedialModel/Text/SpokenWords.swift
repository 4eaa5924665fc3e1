/// Words of the API, such as causes and reasons, as people say them.
public enum SpokenWords {
  /// `connectionRefused` is "connection refused". A text of several words stays as it is.
  public static func of(_ word: String) -> String {
    switch word {
    case "silence": return "no answer for long"
    case "failureRate": return "too many attempts failed"
    case _ where word.contains(" "): return PlainText.escaped(word)
    default: break
    }
    var text = ""
    for character in PlainText.escaped(word) {
      if character.isUppercase, let last = text.last, last.isLowercase { text.append(" ") }
      text += character.isUppercase && !text.isEmpty ? character.lowercased() : String(character)
    }
    return text
  }
}

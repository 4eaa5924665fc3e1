/// The known word that somebody may have meant.
enum Suggestion {
  /// `; did you mean …?`, or nothing if no word is close.
  static func text(for word: String, among words: [String]) -> String {
    let near = words.map { (distance: distance(word, $0), word: $0) }.filter { $0.distance <= max(1, word.count / 3) }
    guard let best = near.min(by: { ($0.distance, $0.word) < ($1.distance, $1.word) }) else { return "" }
    return "; did you mean \(best.word)?"
  }

  /// How many characters have to be put in, left out, changed, or swapped with the next (the optimal string alignment
  /// distance; Damerau, "A technique for computer detection and correction of spelling errors", 1964).
  static func distance(_ one: String, _ other: String) -> Int {
    let (a, b) = (Array(one), Array(other))
    var (beforeLast, last) = ([Int](), Array(0...b.count))
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        var best = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, beforeLast[j - 1] + 1) }
        row.append(best)
      }
      (beforeLast, last) = (last, row)
    }
    return last[b.count]
  }
}

/// A chart of columns, as lines of text.
enum BarChart {
  /// How many columns it has.
  static let width = 60
  private static let height = 8
  private static let blocks: [Character] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

  /// - Parameters:
  ///   - columns: The values, 0 or more.
  ///   - highest: The value at the top, above 0.
  ///   - label: What stands beside the top; `0` stands beside the bottom.
  ///   - margin: The width of the labels, in characters.
  ///   - axis: What stands between labels and columns.
  static func text(_ columns: [Double], highest: Double, label top: String, margin: Int, axis: String) -> String {
    var text = ""
    for row in (0..<height).reversed() {
      let label = row == height - 1 ? top : row == 0 ? "0" : ""
      text += String(repeating: " ", count: max(0, margin - label.count)) + label + axis
      for value in columns {
        let eighths = value / highest * Double(height * 8) - Double(row * 8)
        text.append(blocks[min(8, max(0, Int(eighths.rounded(.up))))])
      }
      text += "\n"
    }
    return text
  }
}

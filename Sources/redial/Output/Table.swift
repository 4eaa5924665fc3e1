import RedialModel

/// Rows under headings, each column as wide as its widest cell.
struct Table {
  /// A cell: its text, on one line and without anything that a terminal acts on, and its style.
  struct Cell: ExpressibleByStringInterpolation {
    let text: String
    let style: Style?

    init(_ text: String?, _ style: Style? = nil) {
      (self.text, self.style) = (PlainText.escaped(text ?? ""), style)
    }
    init(stringLiteral text: String) { self.init(text) }

    /// A state, in its style.
    static func state(_ state: String?) -> Cell { Cell(state, state.flatMap { Style(of: $0) }) }
    static func number(_ number: Int?) -> Cell { Cell(number.map(String.init)) }
  }

  private let headings: [String]
  private var rows: [[Cell]] = []

  init(_ headings: String...) { self.headings = headings }

  mutating func add(_ cells: Cell...) { rows.append(cells) }

  /// The table; a sentence if it has no rows.
  func text(none: String) -> String {
    guard !rows.isEmpty else { return none + "\n" }
    let widths = headings.indices.map { column in
      rows.reduce(headings[column].count) { max($0, $1[column].text.count) }
    }
    let head = headings.map { Cell($0, .soft) }
    return ([head] + rows).map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        line += Terminal.styled(cell.text, cell.style)
        // The last column may have any width; empty cells at the end are left out.
        guard row[(column + 1)...].contains(where: { !$0.text.isEmpty }) else { break }
        line += String(repeating: " ", count: widths[column] - cell.text.count + 2)
      }
      return line + "\n"
    }.joined()
  }
}

/// An SVG drawing of a chart: one area with its axes, in light or dark colours as its reader prefers.
struct Drawing {
  /// The position of the chart's area in the picture, in pixels.
  static let left = 64.0
  static let top = 40.0
  static let width = 720.0
  static let height = 260.0
  static let pictureWidth = 860.0
  static let pictureHeight = 372.0

  private var body = ""

  /// The abscissa of a share of the width, 0...1.
  static func x(_ share: Double) -> Double { left + width * min(max(0, share), 1) }
  /// The ordinate of a share of the height, 0 being the bottom.
  static func y(_ share: Double) -> Double { top + height * (1 - min(max(0, share), 1)) }

  /// A number with at most two digits after the point.
  static func text(_ value: Double) -> String {
    let hundredths = Int((value * 100).rounded())
    let fraction = abs(hundredths % 100)
    let sign = hundredths < 0 ? "-" : ""
    let whole = "\(sign)\(abs(hundredths) / 100)"
    if fraction == 0 { return whole }
    return fraction % 10 == 0 ? "\(whole).\(fraction / 10)" : "\(whole).\(fraction < 10 ? "0" : "")\(fraction)"
  }

  /// Text as the content of an element.
  static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      default: result.append(character)
      }
    }
    return result
  }

  mutating func line(_ style: String, _ points: [(x: Double, y: Double)]) {
    let path = points.map { "\(Self.text($0.x)),\(Self.text($0.y))" }.joined(separator: " ")
    body += "<polyline class=\"\(style)\" points=\"\(path)\"/>\n"
  }

  mutating func box(_ style: String, x: Double, y: Double, width: Double, height: Double) {
    body +=
      "<rect class=\"\(style)\" x=\"\(Self.text(x))\" y=\"\(Self.text(y))\" width=\"\(Self.text(width))\" "
      + "height=\"\(Self.text(height))\"/>\n"
  }

  mutating func word(_ text: String, x: Double, y: Double, anchor: String = "start", style: String = "label") {
    body +=
      "<text class=\"\(style)\" x=\"\(Self.text(x))\" y=\"\(Self.text(y))\" text-anchor=\"\(anchor)\">"
      + "\(Self.escaped(text))</text>\n"
  }

  /// Draws a legend of names, each in the style of its line or of its area.
  mutating func legend(_ entries: [(style: String, name: String, isArea: Bool)]) {
    var x = Self.left
    for (style, name, isArea) in entries {
      let y = Self.pictureHeight - 14
      if isArea {
        box(style, x: x, y: y - 9, width: 22, height: 10)
      } else {
        line(style, [(x, y - 4), (x + 22, y - 4)])
      }
      word(name, x: x + 28, y: y)
      x += 28 + Double(name.count) * 7 + 22
    }
  }

  /// The whole picture.
  func svg(title: String, description: String) -> String {
    """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.text(Self.pictureWidth)) \(Self.text(Self.pictureHeight))" \
    role="img" aria-labelledby="title description" font-family="system-ui, sans-serif" font-size="12">
    <title id="title">\(Self.escaped(title))</title>
    <desc id="description">\(Self.escaped(description))</desc>
    <style>
    .back { fill: #ffffff } .label { fill: #444c56 } .heading { fill: #1c2128; font-size: 14px; font-weight: 600 }
    .grid { stroke: #d8dee4; fill: none }
    .spread { fill: #0969da; opacity: 0.25 } .median { stroke: #0969da; stroke-width: 3; fill: none }
    @media (prefers-color-scheme: dark) {
    .back { fill: #0d1117 } .label { fill: #b1bac4 } .heading { fill: #f0f6fc } .grid { stroke: #30363d }
    .median { stroke: #58a6ff } .spread { fill: #58a6ff }
    }
    </style>
    <rect class="back" width="100%" height="100%"/>
    <text class="heading" x="\(Self.text(Self.left))" y="18">\(Self.escaped(title))</text>
    \(body)</svg>

    """
  }
}

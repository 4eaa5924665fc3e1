/// Ten values of one type within the value itself: nothing is allocated.
///
/// `InlineArray` would do, but needs macOS 26 and iOS 26.
struct InlineTen<Element: Sendable & Hashable>: Sendable, Hashable {
  private var e0, e1, e2, e3, e4, e5, e6, e7, e8, e9: Element

  static var count: Int { 10 }

  init(repeating element: Element) {
    (e0, e1, e2, e3, e4) = (element, element, element, element, element)
    (e5, e6, e7, e8, e9) = (element, element, element, element, element)
  }

  /// The element at an index in 0..<10.
  subscript(index: Int) -> Element {
    get {
      switch index {
      case 0: e0
      case 1: e1
      case 2: e2
      case 3: e3
      case 4: e4
      case 5: e5
      case 6: e6
      case 7: e7
      case 8: e8
      default: e9
      }
    }
    set {
      switch index {
      case 0: e0 = newValue
      case 1: e1 = newValue
      case 2: e2 = newValue
      case 3: e3 = newValue
      case 4: e4 = newValue
      case 5: e5 = newValue
      case 6: e6 = newValue
      case 7: e7 = newValue
      case 8: e8 = newValue
      default: e9 = newValue
      }
    }
  }
}

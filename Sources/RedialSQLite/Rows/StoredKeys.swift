internal import RedialStore
internal import RedialModel

/// How keys with a namespace are stored: as their text. These two functions are the only place where a key becomes text
/// for the file, and text of the file becomes a key.
extension SQLiteStatement {
  /// Binds a key as a parameter.
  func bind<Kind>(_ index: Int32, key: Qualified<Kind>) {
    bind(index, text: key.text)
  }

  /// A key in a column of the current row.
  func key<Kind>(_ column: Int32, as: Qualified<Kind>.Type = Qualified<Kind>.self) -> Qualified<Kind> {
    Qualified(qualified: text(column))
  }
}

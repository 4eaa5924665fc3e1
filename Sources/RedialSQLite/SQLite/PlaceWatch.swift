internal import RedialStore
internal import RedialModel

/// Checks again and again whether an open store's files are in their place, and reports when that changes.
final class PlaceWatch {
  private let notices: StoreNotices
  /// Nil until the files are there.
  private var place: StorePlace?
  private var isMisplaced = false

  init(notices: StoreNotices) {
    self.notices = notices
  }

  /// Records where the files are.
  func begin(path: String) {
    place = StorePlace(path: path)
  }

  /// Checks that the files are in their place.
  func check() throws(StoreError) {
    do throws(StoreError) {
      try place?.check()
    } catch {
      if !isMisplaced { notices.post(.misplaced(error)) }
      isMisplaced = true
      throw error
    }
    if isMisplaced { notices.post(.misplaced(nil)) }
    isMisplaced = false
  }
}

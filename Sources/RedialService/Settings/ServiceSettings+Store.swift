internal import RedialStore

extension ServiceSettings {
  /// The path of the store's file.
  func storePath() throws(ServiceStartError) -> String {
    do throws(StoreLocation.Invalid) {
      switch try StoreLocation(store) {
      case .sqlite(let path): return path
      }
    } catch {
      throw ServiceStartError(message: error.message)
    }
  }
}

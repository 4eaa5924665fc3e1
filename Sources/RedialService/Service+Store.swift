internal import RedialStore

/// The store of a service, running or not.
extension Service {
  static func storePath(_ settings: ServiceSettings) throws(StartError) -> String {
    do throws(StoreLocation.Invalid) {
      switch try StoreLocation(settings.store) {
      case .sqlite(let path): return path
      }
    } catch {
      throw StartError(message: error.message)
    }
  }

  static func startError<Value>(_ body: () throws(StoreError) -> Value) throws(StartError) -> Value {
    do throws(StoreError) {
      return try body()
    } catch {
      throw StartError(message: error.message)
    }
  }
}

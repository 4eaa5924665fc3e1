internal import RedialStore
internal import RedialModel

/// Why the service cannot start.
package struct ServiceStartError: Error, Sendable {
  /// What failed, on which input, and what to do.
  package var message: String

  /// Runs something with a store, whose failures become errors of this type.
  static func of<Value>(_ body: () throws(StoreError) -> Value) throws(ServiceStartError) -> Value {
    do throws(StoreError) {
      return try body()
    } catch {
      throw ServiceStartError(message: error.message)
    }
  }
}

/// The version of Redial, by semantic versioning: of the libraries, of the service with its command, and of the contract
/// in `api/openapi.yaml`. CONTRIBUTING.md says what may change from one to the next.
public let redialVersion = "0.1.0"

/// The version of this build, by semantic versioning.
public let redialVersion = "0.1.0"

/// Whether what a caller or an operator has set contains a secret. A store keeps it encrypted then, or not at all.
extension CallSpec {
  public var hasSecrets: Bool { false }
}

extension TargetOverrides {
  public var hasSecrets: Bool { false }
}

extension TargetRecord {
  public var hasSecrets: Bool { controls.overrides.hasSecrets }
}

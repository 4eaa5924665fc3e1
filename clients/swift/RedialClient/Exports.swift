/// Policies, retriers and clocks are those of the library: importing RedialClient imports Redial.
@_exported public import Redial

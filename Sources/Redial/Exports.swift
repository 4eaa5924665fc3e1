/// Policies, decisions, breakers and budgets are those of RedialCore: who imports Redial has them.
@_exported public import RedialCore

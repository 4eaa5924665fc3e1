/// Policies, decisions, breakers and budgets are RedialCore's: importing Redial imports them.
@_exported public import RedialCore

/** The engine operations available to requests: desire rules, release them, read the ledger, list what is overdue. */
export * from './holders';
export { EnginePort } from './engine-port';
export type { HostRelease } from './agent-guard.store';
export type { OverdueRuleRow } from './backlog.store';
export { closeStaticRules } from './static-rule-closing';
export { lockOwners } from './lock-owners';
export type { AccessRow, AccessWindow } from './access-rows';
export * from './ledger-queries';
export type { RuleEventRow } from './ledger-events';
export * from './target-sql';
export type { TargetRuleHolder, TargetRuleRow } from './target-rules.store';

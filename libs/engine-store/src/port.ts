/** The engine operations available to requests: desire rules, release them, read the ledger, list what is overdue. */
export * from './holders';
export { AgentGuardStore, type HostRelease } from './agent-guard.store';
export { AgentStore } from './agent.store';
export { BacklogStore, type OverdueRuleRow } from './backlog.store';
export { closeStaticRules } from './static-rule-closing';
export { lockOwners } from './lock-owners';
export type { AccessRow, AccessWindow } from './access-rows';
export * from './ledger-queries';
export type { RuleEventRow } from './ledger-events';
export { TargetRuleStore, type TargetRuleHolder, type TargetRuleRow } from './target-rules.store';

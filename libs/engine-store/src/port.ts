/** The engine operations available to tenant requests: desire rules, release them, read the ledger. */
export * from './holders';
export { AgentGuardStore, type HostRelease } from './agent-guard.store';
export { AgentStore } from './agent.store';
export { lockOwners } from './lock-owners';
export type { AccessRow, AccessWindow } from './access-rows';
export * from './ledger-queries';
export type { RuleEventRow } from './ledger-events';

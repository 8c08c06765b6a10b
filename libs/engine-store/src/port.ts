/** All that tenant requests may ask of the engine's tables: to desire rules, to release them, to read the ledger. */
export * from './holders';
export { AgentStore } from './agent.store';
export { lockOwners } from './lock-owners';
export * from './ledger-queries';
export type { RuleEventRow } from './ledger-events';

import type { EngineStore, Lease } from '#engine-store';
import type { EnginePort } from '#engine-store/port';
import type { Transactions, Tx } from '#entities';
import type { DueRule } from '#rules';
import { MemoryComparisons, MemoryLedger, MemoryOwners, MemoryUnmanaged } from './memory-records';
import { MemoryBudgets, MemoryLeases, MemoryRules } from './memory-rules';
import { MemorySweep, MemorySweeperLease } from './memory-sweep';
import type { Tables } from './tables';

/** The connection to the database broke; the statement may have been executed. */
export class ConnectionLost extends Error {}

/** A connection to the database: statements take time, and it may break. */
export interface Connection {
  /** @param work is executed in one step when the statement arrives */
  ask<Answer>(what: string, work: () => Answer): Promise<Awaited<Answer>>;
}

/** Is notified of answers when the database gives them. */
export interface AnswerWatcher {
  took(lease: Lease): void;
  due(rules: readonly DueRule[]): void;
}

/** The stores of the engine, over a connection. */
export interface MemoryStores extends EngineStore {
  readonly database: Transactions;
}

/** Hosts with agents, requests and operators. */
type NotSimulated = 'watch' | 'restores' | 'deploymentIds' | 'agentStates' | 'agentLists' | keyof EnginePort;
const NOT_SIMULATED = {} as Pick<EngineStore, NotSimulated>;

/** The engine writes only audit records through a transaction directly. */
const [AUTOCOMMIT, TRANSACTION] = ['autocommit', 'transaction'].map(
  (name) => ({ name, query: () => Promise.resolve([]) }) as unknown as Tx,
) as [Tx, Tx];

type Method = (...given: unknown[]) => unknown;

/** A store whose methods use the connection, unless they are called within an open transaction. */
function remote(model: object, connection: Connection): Record<string, unknown> {
  const prototype = Object.getPrototypeOf(model) as Record<string, Method>;
  const names = Object.getOwnPropertyNames(prototype).filter((name) => name !== 'constructor');
  const methods = names.map((name) => {
    const method = (tx: Tx, ...given: unknown[]): Promise<unknown> => {
      const work = (): unknown => (model as Record<string, Method>)[name]!(...given);
      return tx === TRANSACTION ? Promise.resolve(work()) : connection.ask(name, work);
    };
    return [name, method] as const;
  });
  return Object.fromEntries(methods);
}

/** Creates the database access of one worker process. */
export function connectMemory(tables: Tables, connection: Connection, watcher: AnswerWatcher): MemoryStores {
  const leases = new MemoryLeases(tables);
  const take = leases.take.bind(leases);
  leases.take = (...given) => {
    const lease = take(...given);
    if (lease) watcher.took(lease);
    return lease;
  };
  const rules = new MemoryRules(tables);
  const [due, again] = [rules.due.bind(rules), rules.again.bind(rules)];
  rules.due = (...given) => {
    const found = due(...given);
    watcher.due(found.rules);
    return found;
  };
  rules.again = (...given) => {
    const found = again(...given);
    watcher.due(found.rules);
    return found;
  };
  const transaction: Transactions['transaction'] = (work) =>
    connection.ask('transaction', () => work(TRANSACTION));
  const store = (model: object): never => remote(model, connection) as never;
  return {
    database: {
      autocommit: AUTOCOMMIT,
      transaction,
      // its tables refuse no record
      revocation: (work, mode) =>
        transaction(work).catch((error: unknown) => {
          if (mode !== 'repeatable' || !(error instanceof ConnectionLost)) throw error;
          return transaction(work);
        }),
      ping: () => connection.ask('ping', () => undefined),
    },
    leases: store(leases),
    rules: store(rules),
    ledger: store(new MemoryLedger(tables)),
    budgets: store(new MemoryBudgets(tables)),
    owners: store(new MemoryOwners(tables)),
    comparisons: store(new MemoryComparisons(tables)),
    unmanaged: store(new MemoryUnmanaged(tables)),
    sweep: store(new MemorySweep(tables)),
    sweeperLease: store(new MemorySweeperLease(tables)),
    ...NOT_SIMULATED,
  };
}

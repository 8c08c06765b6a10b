import type { DueRuleRow, EngineStore, Lease } from '#engine-store';
import type { AuditEntry, Transactions, Tx } from '#entities';
import type { OrganizationId } from '#rules';
import { ModelComparisons } from './comparison';
import { ModelConvergence } from './convergence';
import { ModelDrift } from './drift';
import { ModelBudgets, ModelLeases, ModelSweeperLease } from './leases';
import { ModelLedger } from './ledger';
import { ModelMissingTargets } from './missing-target';
import { ModelRules } from './rules';
import { ModelSettlements } from './settlement';
import { ModelSettlementOwners } from './settlement-owners';
import { ModelSweep } from './sweep';
import type { Tables } from './tables';
import { ModelUnmanaged } from './unmanaged';

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
  due(rows: readonly DueRuleRow[]): void;
}

/** The stores of the engine, over a connection. */
export interface ModelStores extends EngineStore {
  readonly database: Transactions;
}

const AUTOCOMMIT = { name: 'autocommit' } as unknown as Tx;

/** A transaction. The engine writes only audit records through it directly. */
const transactionOf = (tables: Tables): Tx =>
  ({
    query: (text: string, [organizationId, entries]: [OrganizationId, string]): Promise<unknown[]> => {
      if (!text.includes('INSERT INTO audit_records'))
        throw new Error(`The model knows no such statement: ${text}`);
      for (const { eventType, resourceId } of JSON.parse(entries) as AuditEntry[])
        tables.audit.push({ organizationId, eventType, resourceId: resourceId! });
      return Promise.resolve([]);
    },
  }) as unknown as Tx;

type Method = (...given: unknown[]) => unknown;

/** A store whose methods use the connection, unless they are called within an open transaction. */
function remote(model: object, connection: Connection, transaction: Tx): Record<string, unknown> {
  const prototype = Object.getPrototypeOf(model) as Record<string, Method>;
  const names = Object.getOwnPropertyNames(prototype).filter((name) => name !== 'constructor');
  const methods = names.map((name) => {
    const method = (tx: Tx, ...given: unknown[]): Promise<unknown> => {
      const work = (): unknown => (model as Record<string, Method>)[name]!(...given);
      return tx === transaction ? Promise.resolve(work()) : connection.ask(name, work);
    };
    return [name, method] as const;
  });
  return Object.fromEntries(methods);
}

/** Creates the database access of one worker process. */
export function connectModel(tables: Tables, connection: Connection, watcher: AnswerWatcher): ModelStores {
  const leases = new ModelLeases(tables);
  const take = leases.take.bind(leases);
  leases.take = (...given) => {
    const lease = take(...given);
    if (lease) watcher.took(lease);
    return lease;
  };
  const convergence = new ModelConvergence(tables);
  const due = convergence.due.bind(convergence);
  convergence.due = (...given) => {
    const rows = due(...given);
    watcher.due(rows);
    return rows;
  };
  const tx = transactionOf(tables);
  const transaction: Transactions['transaction'] = (work) => connection.ask('transaction', () => work(tx));
  const store = (model: object): never => remote(model, connection, tx) as never;
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
    rules: store(new ModelRules(tables)),
    convergence: store(convergence),
    settlements: store(new ModelSettlements(tables)),
    ledger: store(new ModelLedger(tables)),
    budgets: store(new ModelBudgets(tables)),
    owners: store(new ModelSettlementOwners(tables)),
    comparisons: store(new ModelComparisons(tables)),
    drift: store(new ModelDrift(tables)),
    unmanaged: store(new ModelUnmanaged(tables)),
    missingTargets: store(new ModelMissingTargets(tables)),
    sweep: store(new ModelSweep(tables)),
    sweeperLease: store(new ModelSweeperLease(tables)),
    // of hosts with agents, which are not simulated
    watch: {} as never,
    reports: {} as never,
  };
}

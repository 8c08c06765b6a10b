import type {
  ConvergenceStore,
  DueRuleRow,
  Lease,
  LeaseStore,
  ReconcileStore,
  SettlementStore,
  SweepStore,
  Transactions,
  Tx,
  WriteBudgetStore,
} from '#entities';
import { ModelConvergence } from './convergence';
import { ModelBudgets, ModelLeases } from './leases';
import { ModelReconcile } from './reconcile';
import { ModelSettlements } from './settlement';
import { ModelSweep } from './sweep';
import type { Tables } from './tables';

/** The connection to the database broke; what was asked may be done or not. */
export class ConnectionLost extends Error {}

/** A way to the database: what is asked takes time, and may break. */
export interface Connection {
  /** @param work done at once when the statement arrives */
  ask<Answer>(what: string, work: () => Answer): Promise<Awaited<Answer>>;
}

/** Told of answers at the moment the database gives them. */
export interface AnswerWatcher {
  took(lease: Lease): void;
  due(rows: readonly DueRuleRow[]): void;
}

/** The stores the engine is given, over a connection. */
export interface ModelStores {
  readonly database: Transactions;
  readonly leases: LeaseStore;
  readonly convergence: ConvergenceStore;
  readonly settlements: Pick<SettlementStore, 'settle'>;
  readonly budgets: WriteBudgetStore;
  readonly reconcile: ReconcileStore;
  readonly sweep: SweepStore;
}

const AUTOCOMMIT = { name: 'autocommit' } as unknown as Tx;
const TRANSACTION = { name: 'transaction' } as unknown as Tx;

type Method = (...given: unknown[]) => unknown;

/** A store whose methods go over the connection, unless they are part of a transaction that is there already. */
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

/** Everything a worker process has of the database. */
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
  const transaction: Transactions['transaction'] = (work) =>
    connection.ask('transaction', () => work(TRANSACTION));
  return {
    database: {
      autocommit: AUTOCOMMIT,
      transaction,
      repeatable: (work) =>
        transaction(work).catch((error: unknown) => {
          if (!(error instanceof ConnectionLost)) throw error;
          return transaction(work);
        }),
      statement: (work) => work(AUTOCOMMIT),
      ping: () => connection.ask('ping', () => undefined),
    },
    leases: remote(leases, connection) as unknown as LeaseStore,
    convergence: remote(convergence, connection) as unknown as ConvergenceStore,
    settlements: remote(new ModelSettlements(tables), connection) as unknown as Pick<
      SettlementStore,
      'settle'
    >,
    budgets: remote(new ModelBudgets(tables), connection) as unknown as WriteBudgetStore,
    reconcile: remote(new ModelReconcile(tables), connection) as unknown as ReconcileStore,
    sweep: remote(new ModelSweep(tables), connection) as unknown as SweepStore,
  };
}

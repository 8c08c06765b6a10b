import type { Access } from '#rules';
import type { Lease } from '#engine-store';
import type { SeededRandom } from '../simulation/seeded-random';
import { ModelConvergence } from '../simulation/model/convergence';
import { ModelBudgets, ModelLeases, ModelSweeperLease } from '../simulation/model/leases';
import { ModelLedger } from '../simulation/model/ledger';
import { connectModel, type ModelStores } from '../simulation/model/model-database';
import { ModelOverdue } from '../simulation/model/overdue';
import { ModelComparisons } from '../simulation/model/comparison';
import { ModelDrift } from '../simulation/model/drift';
import { ModelMissingTargets } from '../simulation/model/missing-target';
import { ModelRules } from '../simulation/model/rules';
import { ModelUnmanaged } from '../simulation/model/unmanaged';
import { ModelSettlementOwners } from '../simulation/model/settlement-owners';
import { ModelRequests } from '../simulation/model/requests';
import { ModelSettlements } from '../simulation/model/settlement';
import { ModelSweep } from '../simulation/model/sweep';
import type { Both } from './model-both';
import type { Furnished } from './model-furniture';

export const ORIGIN = { workerId: 'worker', passId: '00000000-0000-4000-8000-0000000000aa' };
/** Age of what was read, ms; differs from every step of the clock. */
export const READING = { startedAgoMs: 510, firstStartedAgoMs: 715, endedAgoMs: 305 };
/** Runs each call at once: the history decides the order. */
const CONNECTION = {
  ask: <Answer>(_: string, work: () => Answer): Promise<Awaited<Answer>> => Promise.resolve(work()),
};

/** What the parts of a history share. */
export class HistoryState {
  /** the target that passes are about */
  targetId = '';
  lease: { model: Lease; real: Lease } | null = null;
  readonly model: {
    leases: ModelLeases;
    rules: ModelRules;
    convergence: ModelConvergence;
    settlements: ModelSettlements;
    sweep: ModelSweep;
    requests: ModelRequests;
    owners: ModelSettlementOwners;
    comparisons: ModelComparisons;
    drift: ModelDrift;
    unmanaged: ModelUnmanaged;
    missingTargets: ModelMissingTargets;
    budgets: ModelBudgets;
    ledger: ModelLedger;
    sweeperLease: ModelSweeperLease;
    overdue: ModelOverdue;
  };
  /** the model's stores as the engine expects them */
  readonly stores: ModelStores;

  constructor(
    readonly both: Both,
    readonly chance: SeededRandom,
    readonly given: Furnished,
  ) {
    const { tables } = both;
    this.model = {
      leases: new ModelLeases(tables),
      rules: new ModelRules(tables),
      convergence: new ModelConvergence(tables),
      settlements: new ModelSettlements(tables),
      sweep: new ModelSweep(tables),
      requests: new ModelRequests(tables),
      owners: new ModelSettlementOwners(tables),
      comparisons: new ModelComparisons(tables),
      drift: new ModelDrift(tables),
      unmanaged: new ModelUnmanaged(tables),
      missingTargets: new ModelMissingTargets(tables),
      budgets: new ModelBudgets(tables),
      ledger: new ModelLedger(tables),
      sweeperLease: new ModelSweeperLease(tables),
      overdue: new ModelOverdue(tables),
    };
    this.stores = connectModel(tables, CONNECTION, { took: () => undefined, due: () => undefined });
  }

  /** The database's id of a row of the model. */
  realId(id: string): string {
    return this.both.ids.get(id)!;
  }

  anyAccess(): Access {
    return { credentialId: this.chance.pick([...this.both.tables.credentials.keys()]), region: null };
  }
}

/** Without the id: the model and the database generate their own. */
export function withoutId<T extends { readonly ruleId: string }>(rule: T): Omit<T, 'ruleId'> {
  const { ruleId: _, ...rest } = rule;
  return rest;
}

export const byKey = (one: object, other: object): number =>
  JSON.stringify(Object.entries(one).find(([name]) => name === 'key')) <
  JSON.stringify(Object.entries(other).find(([name]) => name === 'key'))
    ? -1
    : 1;

export const byJson = (one: object, other: object): number =>
  JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;

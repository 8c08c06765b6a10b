import type { Tx } from '#entities';
import type { OrganizationId } from '#rules';
import type { SeededRandom } from '../simulation/seeded-random';
import type { Both } from './model-both';
import { DriftSteps } from './model-drift';
import type { Furnished } from './model-furniture';
import { PassSteps } from './model-passes';
import { RequestSteps } from './model-requests';
import { modelRows, realRows } from './model-rows';
import { HistoryState } from './model-state';
import { SweepSteps } from './model-sweeps';

const NO_ORGANIZATION = '00000000-0000-0000-0000-000000000000';
/** Tables that are emptied before each history. */
const EMPTIED = [
  'static_ip_rules',
  'rules',
  'write_budgets',
  'unmanaged_rules',
  'sweeper_lease',
  'resource_health_events',
  'unwritten_audit_records',
  'unwritten_rule_events',
];

interface Furniture {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly targetId: string;
  readonly credentialId: string;
  readonly port: number;
  readonly name: string;
  readonly writeVerified: boolean;
}

/** Runs the same calls on the model and on the database, and compares what they return. */
export class Play {
  private auditedFrom = '0';
  private readonly state: HistoryState;
  private readonly requests: RequestSteps;
  private readonly passes: PassSteps;
  private readonly comparisons: DriftSteps;
  private readonly sweeps: SweepSteps;

  constructor(both: Both, chance: SeededRandom, given: Furnished) {
    this.state = new HistoryState(both, chance, given);
    this.requests = new RequestSteps(this.state);
    this.passes = new PassSteps(this.state, () => this.step());
    this.comparisons = new DriftSteps(this.state);
    this.sweeps = new SweepSteps(this.state);
  }

  async begin(tx: Tx): Promise<void> {
    // the ledger refuses it otherwise
    await tx.query(
      'DO $$ BEGIN SET LOCAL session_replication_role = replica; TRUNCATE rule_events, sessions CASCADE; END $$',
    );
    for (const table of EMPTIED) await tx.query(`DELETE FROM ${table}`);
    const [last] = await tx.query<{ sequence: string }[]>(
      'SELECT coalesce(max(sequence), 0) AS sequence FROM audit_records',
    );
    this.auditedFrom = last!.sequence;
    for (const { id, targetId, credentialId } of this.state.given.places)
      await tx.query(
        `UPDATE resources SET is_active = true, write_verified = name <> 'c', target_id = $2, credential_id = $3 WHERE id = $1`,
        [id, targetId, credentialId],
      );
    const resources = await tx.query<Furniture[]>(
      `SELECT id, organization_id AS "organizationId", target_id AS "targetId", credential_id AS "credentialId",
         name, write_verified AS "writeVerified", (config->>'port')::int AS port FROM resources ORDER BY name`,
    );
    this.state.targetId = resources[0]!.targetId;
    for (const resource of resources) this.place(resource);
    await this.state.both.real((first) =>
      first.query(
        `UPDATE targets SET lease_until = NULL, lease_generation = 0, last_write_at = NULL, last_write_size = 0, prompt_writes = NULL,
           in_flight_until = NULL, reconcile_due_at = now() + interval '10 minutes', reconcile_requested = false,
           compared_at = NULL, unmanaged_digest = NULL`,
      ),
    );
  }

  private place({ id, organizationId, targetId, credentialId, port, name, writeVerified }: Furniture): void {
    const { credentials, resources, targets } = this.state.both.tables;
    credentials.set(credentialId, { organizationId });
    resources.set(id, {
      id,
      organizationId,
      name,
      writeVerified,
      credentialId,
      targetId,
      config: { port },
      region: null,
      isActive: true,
      revision: 0,
      deletedAt: null,
    });
    targets.set(targetId, {
      id: targetId,
      provider: 'AWS',
      resourceType: 'SECURITY_GROUP',
      identifier: 'any',
      leaseUntil: null,
      leaseGeneration: 0,
      lastWriteAt: null,
      lastWriteSize: 0,
      promptWrites: null,
      inFlightUntil: null,
      reconcileDueAt: 600_000,
      reconcileRequested: false,
      comparedAt: null,
      unmanagedDigest: null,
      accountedTo: NO_ORGANIZATION,
    });
  }

  /** What the model holds now. */
  modelRows(): ReturnType<typeof modelRows> {
    return modelRows(this.state.both.tables, (id) => this.state.both.ids.get(id) ?? id);
  }

  realRows(): Promise<ReturnType<typeof modelRows>> {
    return this.state.both.real((tx) => realRows(tx, this.auditedFrom));
  }

  async step(): Promise<void> {
    const dice = this.state.chance.next();
    if (dice < 0.18) await this.requests.start();
    else if (dice < 0.22) await this.requests.createStatic();
    else if (dice < 0.25) await this.requests.deleteStatic();
    else if (dice < 0.35) await this.requests.stop();
    else if (dice < 0.4) await this.requests.extend();
    else if (dice < 0.43) await this.requests.renew();
    else if (dice < 0.5) await this.sweeps.expire();
    else if (dice < 0.58) await this.passes.take();
    else if (dice < 0.6) await this.passes.release();
    else if (dice < 0.86) await this.passes.pass();
    else if (dice < 0.89) await this.requests.move();
    else if (dice < 0.93) await this.comparisons.compare();
    else if (dice < 0.95) await this.sweeps.sweepRole();
    else if (dice < 0.97) await this.sweeps.spend();
    else if (dice < 0.99) await this.sweeps.sweepTargets();
    else await this.sweeps.purge();
  }
}

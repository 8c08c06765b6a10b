import type { HolderKind, LedgerInterval, OrganizationId, Provider, RuleCause, RuleEventKind } from '#rules';
import { auditTable, type Tx } from '#entities';
import { Columns } from './columns';

/** Origin of changes, for the ledger and the log. */
export interface Origin {
  readonly workerId: string;
  readonly passId: string;
  /** of the pass's access path; null: none, or several */
  readonly credentialId: string | null;
}

/** A ledger row: an event of a rule for one holder, or for none. */
export interface LedgerRow extends LedgerInterval {
  readonly kind: RuleEventKind;
  readonly at: Date;
  readonly ruleId: string | null;
  readonly targetId: string;
  readonly provider: Provider;
  readonly target: string;
  readonly address: string;
  readonly protocol: string;
  readonly ports: string;
  readonly providerRuleId: string | null;
  readonly cause: RuleCause | null;
  readonly message: string | null;
  readonly holderKind: HolderKind;
  readonly organizationId: OrganizationId | null;
  readonly resourceId: string | null;
  readonly resourceName: string | null;
  readonly sessionId: string | null;
  readonly staticIpRuleId: string | null;
  readonly userId: string | null;
  readonly userEmail: string | null;
  /** shown to its own organization only */
  readonly credentialId: string | null;
  readonly workerId: string;
  readonly passId: string;
}

const COLUMNS = new Columns({
  text: [
    'kind', 'provider', 'target', 'address', 'protocol', 'ports', 'provider_rule_id', 'cause', 'message', 'holder_kind',
    'resource_name', 'user_email', 'worker_id',
  ], // prettier-ignore
  uuid: [
    'target_id', 'rule_id', 'organization_id', 'resource_id', 'session_id', 'static_ip_rule_id', 'user_id', 'credential_id',
    'pass_id',
  ], // prettier-ignore
  time: ['possible_from', 'certain_from', 'certain_until', 'possible_until'],
});

const ROWS = `SELECT ${COLUMNS.values} FROM jsonb_to_recordset($1::jsonb) AS given(${COLUMNS.given})`;

/** Records observations of rules. */
export class LedgerStore {
  /** Inserts into the ledger, or into `unwritten_rule_events` while it is unavailable: revocation does not wait for the record. */
  async record(tx: Tx, rows: readonly LedgerRow[]): Promise<void> {
    if (rows.length === 0) return;
    await tx.query(
      auditTable(tx) === 'audit_records'
        ? `INSERT INTO rule_events (${COLUMNS.names}) ${ROWS}`
        : `INSERT INTO unwritten_rule_events (event) SELECT to_jsonb(e) FROM (${ROWS}) e`,
      [JSON.stringify(rows)],
    );
  }
}

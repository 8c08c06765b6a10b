import type { OrganizationId, Provider } from '#rules';
import {
  type ListDefinition,
  type ListQuery,
  type Sliced,
  type TenantStore,
  type Tx,
  choiceFilter,
  first,
  listPage,
  rows,
  touches,
} from '#entities';

/** Accounts in which resources may use one credential. */
export const MAX_ACCOUNTS_IN_USE = 1000;
/** Accounts of one credential that have a name. */
export const MAX_LISTED_ACCOUNTS = 5000;

/** An account that a credential reaches, or may. */
export interface CloudAccountRow {
  readonly account: string;
  /** by an administrator, else by the provider */
  readonly label: string | null;
  /** in the words of the provider; null: it is not in the provider's last list */
  readonly listedState: string | null;
  readonly resources: number;
  readonly isValid: boolean | null;
  readonly lastVerifiedAt: Date | null;
  readonly verificationError: string | null;
}

/** A credential leased to this worker, whose provider is asked for the accounts. */
export interface DueAccountList {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly provider: Provider;
  readonly lease: string;
}

/** An account in the list of its provider. */
interface ListedAccount {
  readonly account: string;
  readonly label: string | null;
  readonly state: string | null;
}

const LABEL = 'coalesce(a.label, a.listed_label)';
/** SQL: of a resource's account, the row that its rules are written with: the credential itself where it names the account. */
const CHECKED = 'CASE WHEN one.id IS NULL AND used.resources > 0 THEN c.id ELSE one.id END';
const STATE = `CASE WHEN used.resources IS NULL AND one.id IS NULL THEN 'UNUSED'
  WHEN checked.is_valid THEN 'VALID' WHEN NOT checked.is_valid THEN 'INVALID' ELSE 'UNCHECKED' END`;

/** Of the credential $2. */
export const CLOUD_ACCOUNT_LIST: ListDefinition = {
  list: `SELECT a.account, ${LABEL} AS label, a.state AS "listedState", coalesce(used.resources, 0) AS resources,
      checked.is_valid AS "isValid", checked.last_verified_at AS "lastVerifiedAt",
      checked.verification_error AS "verificationError"
    FROM cloud_accounts a JOIN credentials c ON c.id = a.credential_id
    LEFT JOIN credentials one ON one.parent_id = c.id AND one.account = a.account AND one.deleted_at IS NULL
    LEFT JOIN (SELECT r.account, count(*)::int AS resources FROM resources r
      JOIN credentials used ON used.id = r.credential_id AND $2::uuid IN (used.id, used.parent_id)
      WHERE r.organization_id = $1 AND r.deleted_at IS NULL GROUP BY r.account) used ON used.account = a.account
    LEFT JOIN credentials checked ON checked.id = ${CHECKED}
    WHERE a.organization_id = $1 AND a.credential_id = $2`,
  id: 'a.account',
  search: ['a.account', LABEL],
  sort: {
    account: 'a.account',
    label: LABEL,
    resources: 'coalesce(used.resources, 0)',
    lastVerifiedAt: 'checked.last_verified_at',
  },
  order: 'account',
  filters: { state: choiceFilter(STATE, ['VALID', 'INVALID', 'UNCHECKED', 'UNUSED']) },
};

/** SQL: an account that nothing keeps: no label, no recent list, no resource. */
const IS_FORGOTTEN = `a.label IS NULL AND coalesce(a.listed_at < now() - interval '30 days', true) AND NOT EXISTS (
  SELECT FROM resources r JOIN credentials c ON c.id = r.credential_id
  WHERE a.credential_id IN (c.id, c.parent_id) AND r.organization_id = a.organization_id AND r.account = a.account
    AND r.deleted_at IS NULL)`;

/** The accounts that an organization's credentials reach, with a row of the credential for each that is in use. */
export class CloudAccountStore implements TenantStore<CloudAccountStore> {
  list(
    tx: Tx,
    organization: OrganizationId,
    credentialId: string,
    query: ListQuery,
  ): Promise<Sliced<CloudAccountRow>> {
    return listPage(tx, CLOUD_ACCOUNT_LIST, organization, query, [credentialId]);
  }

  find(
    tx: Tx,
    organization: OrganizationId,
    credentialId: string,
    account: string,
  ): Promise<CloudAccountRow | null> {
    return first(tx, `${CLOUD_ACCOUNT_LIST.list} AND a.account = $3`, [organization, credentialId, account]);
  }

  /** The id of the credential's row for the account; null: it has none, as no resource needs one. */
  async rowOf(
    tx: Tx,
    organization: OrganizationId,
    credentialId: string,
    account: string,
  ): Promise<string | null> {
    const found = await first<{ id: string }>(
      tx,
      `SELECT id FROM credentials
       WHERE organization_id = $1 AND parent_id = $2 AND account = $3 AND deleted_at IS NULL`,
      [organization, credentialId, account],
    );
    return found?.id ?? null;
  }

  /** Notes that a resource is in the account. */
  async note(tx: Tx, organization: OrganizationId, credentialId: string, account: string): Promise<void> {
    await tx.query(
      `INSERT INTO cloud_accounts (organization_id, credential_id, account) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
      [organization, credentialId, account],
    );
  }

  /**
   * Gets or makes the credential's row for an account. It has no secrets of its own, and is checked by itself. One that is
   * about to go stays. Of two at once, one makes it: they take turns by the credential's lock, which also keeps the count.
   * @returns null when the credential is in use in too many accounts
   */
  async use(
    tx: Tx,
    organization: OrganizationId,
    credentialId: string,
    account: string,
  ): Promise<string | null> {
    await tx.query(
      'SELECT FROM credentials WHERE organization_id = $1 AND id = $2 AND parent_id IS NULL FOR NO KEY UPDATE',
      [organization, credentialId],
    );
    const [row] = await rows<{ id: string }>(
      tx,
      `INSERT INTO credentials AS one (organization_id, parent_id, account, name, provider, credential_type, sealed_data)
       SELECT c.organization_id, c.id, $3::text, c.name, c.provider, c.credential_type, '{}' FROM credentials c
       WHERE c.organization_id = $1 AND c.id = $2 AND c.parent_id IS NULL AND c.deleted_at IS NULL
         AND (SELECT count(*) FROM credentials other WHERE other.parent_id = c.id AND other.account <> $3
           AND other.deleted_at IS NULL) < ${MAX_ACCOUNTS_IN_USE}
       ON CONFLICT (parent_id, account) DO UPDATE SET deleted_at = NULL,
         check_due_at = CASE WHEN one.deleted_at IS NULL THEN one.check_due_at ELSE now() END
       RETURNING id`,
      [organization, credentialId, account],
    );
    return row?.id ?? null;
  }

  /**
   * Lets the row for an account go that no resource uses any more: its last rule is still removed with it, as with a deleted
   * credential. A row in use, and a credential itself, stay.
   */
  async leave(tx: Tx, organization: OrganizationId, accessId: string): Promise<void> {
    const locked = await first<{ parentId: string; account: string }>(
      tx,
      `SELECT parent_id AS "parentId", account FROM credentials
       WHERE organization_id = $1 AND id = $2 AND parent_id IS NOT NULL FOR UPDATE`,
      [organization, accessId],
    );
    if (!locked) return;
    // a separate statement sees what was committed while this one waited for the lock
    await tx.query(
      `UPDATE credentials SET deleted_at = now(), check_due_at = now() WHERE organization_id = $1 AND id = $2
         AND NOT EXISTS (SELECT FROM resources WHERE credential_id = $2 AND deleted_at IS NULL)`,
      [organization, accessId],
    );
    await this.forget(tx, organization, locked.parentId, locked.account);
  }

  /** Makes the credential's rows for accounts due for a check. */
  async requestChecks(tx: Tx, organization: OrganizationId, credentialId: string): Promise<void> {
    await tx.query(
      `UPDATE credentials SET check_due_at = now()
       WHERE organization_id = $1 AND parent_id = $2 AND deleted_at IS NULL`,
      [organization, credentialId],
    );
  }

  /** @param label null: that of the provider @returns false when too many accounts have one */
  async label(
    tx: Tx,
    organization: OrganizationId,
    credentialId: string,
    account: string,
    label: string | null,
  ): Promise<boolean> {
    const labelled = await touches(
      tx,
      `INSERT INTO cloud_accounts (organization_id, credential_id, account, label)
       SELECT $1::uuid, $2::uuid, $3::text, $4::text
       WHERE (SELECT count(*) FROM cloud_accounts WHERE credential_id = $2 AND account <> $3) < ${MAX_LISTED_ACCOUNTS}
       ON CONFLICT (credential_id, account) DO UPDATE SET label = excluded.label RETURNING 1`,
      [organization, credentialId, account, label],
    );
    if (label === null) await this.forget(tx, organization, credentialId, account);
    return labelled;
  }

  /** Has a worker ask the provider for the accounts. @returns false within a minute after the last time */
  requestList(tx: Tx, organization: OrganizationId, credentialId: string): Promise<boolean> {
    return touches(
      tx,
      `UPDATE credentials SET accounts_due_at = now(), accounts_asked_at = now()
       WHERE organization_id = $1 AND id = $2 AND parent_id IS NULL AND deleted_at IS NULL
         AND coalesce(accounts_asked_at < now() - interval '1 minute', true) RETURNING 1`,
      [organization, credentialId],
    );
  }

  private async forget(
    tx: Tx,
    organization: OrganizationId,
    credentialId: string,
    account: string,
  ): Promise<void> {
    await tx.query(
      `DELETE FROM cloud_accounts a WHERE a.organization_id = $1 AND a.credential_id = $2 AND a.account = $3
         AND ${IS_FORGOTTEN}`,
      [organization, credentialId, account],
    );
  }
}

/** The providers' lists of accounts. Serves all organizations: each row names its own. */
export class AccountListStore {
  /** Leases credentials whose accounts are to be listed; no two workers get the same. */
  take(tx: Tx, limit: number, leaseSeconds: number): Promise<DueAccountList[]> {
    return rows(
      tx,
      `WITH due AS (
         SELECT id FROM credentials WHERE accounts_due_at <= now() AND deleted_at IS NULL
         ORDER BY accounts_due_at LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED
       )
       UPDATE credentials c SET accounts_due_at = now() + make_interval(secs => $2) FROM due WHERE c.id = due.id
       RETURNING c.id, c.organization_id AS "organizationId", c.provider, c.accounts_due_at::text AS lease`,
      [limit, leaseSeconds],
    );
  }

  /** Writes a provider's list in the place of the last one. The next one is due after a day. */
  async settle(tx: Tx, due: DueAccountList, listed: readonly ListedAccount[]): Promise<void> {
    if (!(await this.noteAnswer(tx, due, null, 86_400))) return;
    await tx.query(
      `INSERT INTO cloud_accounts (organization_id, credential_id, account, listed_label, state, listed_at)
       SELECT $1::uuid, $2::uuid, given.account, given.label, given.state, now()
       FROM jsonb_to_recordset($3::jsonb) AS given(account text, label text, state text)
       ON CONFLICT (credential_id, account) DO UPDATE
         SET listed_label = excluded.listed_label, state = excluded.state, listed_at = now()`,
      [due.organizationId, due.id, JSON.stringify(listed)],
    );
    await tx.query(
      `UPDATE cloud_accounts SET state = NULL WHERE organization_id = $1 AND credential_id = $2 AND listed_at < now()`,
      [due.organizationId, due.id],
    );
    await tx.query(
      `DELETE FROM cloud_accounts a WHERE a.organization_id = $1 AND a.credential_id = $2 AND ${IS_FORGOTTEN}`,
      [due.organizationId, due.id],
    );
  }

  /** Notes why there is no list: the last one stays. @returns whether the lease was still held */
  noteAnswer(tx: Tx, due: DueAccountList, failure: string | null, againInSeconds: number): Promise<boolean> {
    return touches(
      tx,
      `UPDATE credentials SET accounts_error = $3, accounts_due_at = now() + make_interval(secs => $4)
       WHERE id = $1 AND accounts_due_at = $2::timestamptz RETURNING 1`,
      [due.id, due.lease, failure, againInSeconds],
    );
  }
}

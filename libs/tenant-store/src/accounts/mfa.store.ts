import type { OrganizationId } from '#rules';
import {
  DATA_KEY,
  type DataKeyRow,
  type TenantStore,
  type Tx,
  first,
  newestDataKey,
  touches,
} from '#entities';
import { isSteppedUp, STEP_UP_MINUTES } from '../sessions/session-start';

/** An authenticator's encrypted secret. */
export interface SealedMfaSecret {
  readonly sealedSecret: string;
  readonly mfaEnabled: boolean;
  readonly dataKey: DataKeyRow;
}

const CHALLENGE_OPEN = `organization_id = $1 AND id = $2 AND used_at IS NULL AND expires_at > now()`;

/** Second factors: authenticators, recovery codes, and the challenges they answer. */
export class MfaStore implements TenantStore<MfaStore> {
  /** @returns null before set-up was started */
  secret(tx: Tx, organization: OrganizationId, userId: string): Promise<SealedMfaSecret | null> {
    return first(
      tx,
      `SELECT u.mfa_sealed_secret AS "sealedSecret", u.mfa_enabled AS "mfaEnabled", ${DATA_KEY}
       FROM users u JOIN ${newestDataKey('u.organization_id')} ON true
       WHERE u.organization_id = $1 AND u.id = $2 AND u.is_active AND u.mfa_sealed_secret IS NOT NULL`,
      [organization, userId],
    );
  }

  /** Stores a secret to be confirmed, replacing an earlier one. @returns false when MFA is already on */
  begin(tx: Tx, organization: OrganizationId, userId: string, sealedSecret: string): Promise<boolean> {
    return touches(
      tx,
      `UPDATE users SET mfa_sealed_secret = $3, mfa_last_step = NULL, updated_at = now()
       WHERE organization_id = $1 AND id = $2 AND is_active AND NOT mfa_enabled RETURNING id`,
      [organization, userId, sealedSecret],
    );
  }

  /** Turns MFA on with the confirmed secret. @returns false when it is already on or the secret was replaced */
  enable(
    tx: Tx,
    organization: OrganizationId,
    userId: string,
    { sealedSecret, step }: { sealedSecret: string; step: number },
  ): Promise<boolean> {
    return touches(
      tx,
      `UPDATE users SET mfa_enabled = true, mfa_last_step = $4, updated_at = now()
       WHERE organization_id = $1 AND id = $2 AND is_active AND NOT mfa_enabled AND mfa_sealed_secret = $3
       RETURNING id`,
      [organization, userId, sealedSecret, step],
    );
  }

  /** Turns MFA off and deletes authenticator and recovery codes. Call `findKeeper` first, unless an administrator resets it. @returns false when it is not on */
  async disable(tx: Tx, organization: OrganizationId, userId: string): Promise<boolean> {
    const isDisabled = await touches(
      tx,
      `UPDATE users SET mfa_enabled = false, mfa_sealed_secret = NULL, mfa_last_step = NULL, updated_at = now()
       WHERE organization_id = $1 AND id = $2 AND mfa_enabled RETURNING id`,
      [organization, userId],
    );
    if (!isDisabled) return false;
    await this.replaceRecoveryCodes(tx, organization, userId, []);
    return true;
  }

  /** What keeps a user's MFA on; null: nothing. Locks it until the commit. */
  async findKeeper(
    tx: Tx,
    organization: OrganizationId,
    userId: string,
  ): Promise<'organization' | 'recovery' | null> {
    const [row] = await tx.query<{ keptBy: 'organization' | 'recovery' | null }[]>(
      `SELECT CASE WHEN mfa_required THEN 'organization' WHEN recovery_administrator_id = $2 THEN 'recovery' END AS "keptBy"
       FROM organizations WHERE id = $1 FOR SHARE`,
      [organization, userId],
    );
    return row?.keptBy ?? null;
  }

  /**
   * Consumes the code of a time step.
   * @returns false when it or a later one was used; of concurrent calls one is true
   */
  takeStep(tx: Tx, organization: OrganizationId, userId: string, step: number): Promise<boolean> {
    return touches(
      tx,
      `UPDATE users SET mfa_last_step = $3
       WHERE organization_id = $1 AND id = $2 AND is_active AND mfa_enabled
         AND (mfa_last_step IS NULL OR mfa_last_step < $3) RETURNING id`,
      [organization, userId, step],
    );
  }

  /** Consumes a recovery code. @returns false when there is no such unused code; of concurrent calls one is true */
  takeRecoveryCode(tx: Tx, organization: OrganizationId, userId: string, codeHash: string): Promise<boolean> {
    return touches(
      tx,
      `UPDATE recovery_codes SET used_at = now()
       WHERE organization_id = $1 AND user_id = $2 AND code_hash = $3 AND used_at IS NULL RETURNING user_id`,
      [organization, userId, codeHash],
    );
  }

  /** Invalidates all previous codes. */
  async replaceRecoveryCodes(
    tx: Tx,
    organization: OrganizationId,
    userId: string,
    codeHashes: readonly string[],
  ): Promise<void> {
    await tx.query('DELETE FROM recovery_codes WHERE organization_id = $1 AND user_id = $2', [
      organization,
      userId,
    ]);
    await tx.query(
      `INSERT INTO recovery_codes (organization_id, user_id, code_hash) SELECT $1, $2, unnest($3::text[])`,
      [organization, userId, codeHashes],
    );
  }

  /** @returns the challenge's id */
  async createChallenge(
    tx: Tx,
    organization: OrganizationId,
    userId: string,
    ttlSeconds: number,
  ): Promise<string> {
    const [row] = await tx.query<{ id: string }[]>(
      `INSERT INTO mfa_challenges (organization_id, user_id, expires_at)
       VALUES ($1, $2, now() + make_interval(secs => $3)) RETURNING id`,
      [organization, userId, ttlSeconds],
    );
    return row!.id;
  }

  /** Counts an attempt before it is made. @returns false when the challenge has ended or has no attempts left */
  countAttempt(tx: Tx, organization: OrganizationId, id: string, maxAttempts: number): Promise<boolean> {
    return touches(
      tx,
      `UPDATE mfa_challenges SET tries = tries + 1 WHERE ${CHALLENGE_OPEN} AND tries < $3 RETURNING id`,
      [organization, id, maxAttempts],
    );
  }

  /** @returns false when it has ended; of concurrent calls one is true */
  finishChallenge(tx: Tx, organization: OrganizationId, id: string): Promise<boolean> {
    return touches(tx, `UPDATE mfa_challenges SET used_at = now() WHERE ${CHALLENGE_OPEN} RETURNING id`, [
      organization,
      id,
    ]);
  }

  /** Records that the second factor was proven in this sign-in. @returns until when it counts; null when it has ended */
  async stepUp(tx: Tx, organization: OrganizationId, userId: string, signInId: string): Promise<Date | null> {
    const proven = await first<{ until: Date }>(
      tx,
      `UPDATE refresh_tokens SET stepped_up_at = now()
       WHERE organization_id = $1 AND user_id = $2 AND family_id = $3 AND revoked_at IS NULL
       RETURNING now() + interval '${STEP_UP_MINUTES} minutes' AS until`,
      [organization, userId, signInId],
    );
    return proven?.until ?? null;
  }

  /** Whether the second factor was proven in this sign-in a short time ago. */
  isSteppedUp(tx: Tx, organization: OrganizationId, userId: string, signInId: string): Promise<boolean> {
    const known = 'EXISTS (SELECT FROM users WHERE organization_id = $1 AND id = $2)';
    return touches(tx, `SELECT WHERE ${known} AND ${isSteppedUp('$2', '$3')}`, [
      organization,
      userId,
      signInId,
    ]);
  }
}

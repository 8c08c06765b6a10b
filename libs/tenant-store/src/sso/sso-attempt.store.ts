import type { OrganizationId } from '#rules';
import { SsoAttemptEntity, type Tx, first, insertRow } from '#entities';

/** What a sign-in is recognized by, at the issuer and at the client. */
export type NewSsoAttempt = Readonly<
  Pick<SsoAttemptEntity, 'id' | 'providerId' | 'clientChallenge' | 'returnsTo'>
> & {
  readonly stateHash: string;
  /** nonce and verifier of PKCE */
  readonly sealedData: Readonly<Record<string, string>>;
};

/** An attempt whose state has just been used. */
export type AnsweredSsoAttempt = Omit<NewSsoAttempt, 'stateHash' | 'clientChallenge'> & {
  readonly organizationId: OrganizationId;
};

/** What the issuer's answer proved. */
export type SsoProof = Readonly<
  Pick<SsoAttemptEntity, 'identityId' | 'secondFactorProven' | 'sealedData'>
> & {
  readonly codeHash: string;
};

/** An attempt whose one-time code has just been used. */
export interface RedeemedSsoAttempt {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly clientChallenge: string;
  readonly secondFactorProven: boolean;
  /** the user's own, whatever the issuer has proven */
  readonly needsSecondFactor: boolean;
  /** null: the identity was unlinked since */
  readonly userId: string | null;
}

/** What an attempt becomes a sign-in with. */
export interface FinishedSsoAttempt extends Pick<SsoAttemptEntity, 'sealedData'> {
  readonly identityId: string;
  readonly providerName: string;
  /** the user's own second factor, which was not given */
  readonly needsSecondFactor: boolean;
}

/** At the issuer. */
const BEGUN_FOR = '10 minutes';
/** Until the client exchanges its code. */
const ANSWERED_FOR = '60 seconds';
/** For the second factor: as long as its challenge. */
const REDEEMED_FOR = '5 minutes';

/**
 * Company sign-ins under way. Used before authentication: state and code identify them, and each is accepted once. The
 * statement that uses it decides that: of concurrent uses one finds it.
 */
export class SsoAttemptStore {
  async begin(tx: Tx, organization: OrganizationId, attempt: NewSsoAttempt): Promise<void> {
    await insertRow(tx, SsoAttemptEntity, {
      ...attempt,
      organizationId: organization,
      expiresAt: () => `now() + interval '${BEGUN_FOR}'`,
    });
  }

  /** Uses the state of an answer to an organization's callback. @returns null: it waits for no such answer */
  useState(tx: Tx, slug: string, stateHash: string): Promise<AnsweredSsoAttempt | null> {
    return first(
      tx,
      `UPDATE sso_attempts a SET state_hash = NULL FROM organizations o
       WHERE a.state_hash = $1 AND a.expires_at > now() AND o.id = a.organization_id AND o.slug = $2
       RETURNING a.id, a.organization_id AS "organizationId", a.provider_id AS "providerId",
         a.sealed_data AS "sealedData", a.returns_to AS "returnsTo"`,
      [stateHash, slug],
    );
  }

  /** Gives an answered attempt its one-time code. */
  async prove(tx: Tx, id: string, proof: SsoProof): Promise<void> {
    const { codeHash, identityId, secondFactorProven, sealedData } = proof;
    await tx.query(
      `UPDATE sso_attempts SET code_hash = $2, identity_id = $3, second_factor_proven = $4, sealed_data = $5::jsonb,
         expires_at = now() + interval '${ANSWERED_FOR}' WHERE id = $1`,
      [id, codeHash, identityId, secondFactorProven, sealedData && JSON.stringify(sealedData)],
    );
  }

  /** Uses a one-time code, whether or not its client then proves that it began the sign-in. @returns null: it is none */
  useCode(tx: Tx, codeHash: string): Promise<RedeemedSsoAttempt | null> {
    return first(
      tx,
      `UPDATE sso_attempts a SET code_hash = NULL, expires_at = now() + interval '${REDEEMED_FOR}' FROM user_identities i
       WHERE a.code_hash = $1 AND a.expires_at > now() AND i.id = a.identity_id
       RETURNING a.id, a.organization_id AS "organizationId", a.client_challenge AS "clientChallenge",
         a.second_factor_proven AS "secondFactorProven", i.needs_second_factor AS "needsSecondFactor", i.user_id AS "userId"`,
      [codeHash],
    );
  }

  /** The user has given the own second factor: the identity is confirmed. Before `finish`, whose lock is shared. */
  async confirm(tx: Tx, id: string): Promise<void> {
    await tx.query(
      `UPDATE user_identities i SET needs_second_factor = false FROM sso_attempts a
       WHERE a.id = $1 AND i.id = a.identity_id AND i.needs_second_factor`,
      [id],
    );
  }

  /**
   * Ends a redeemed attempt, whose sign-in begins in the same transaction. Its identity and provider are locked: what unlinks,
   * disables or deletes one comes before, and this returns null, or after, and ends the sign-in.
   * @returns null: it took too long, or the identity is not the user's any more
   */
  finish(tx: Tx, id: string, userId: string): Promise<FinishedSsoAttempt | null> {
    return first(
      tx,
      `WITH done AS (
         DELETE FROM sso_attempts WHERE id = $1 AND expires_at > now() AND state_hash IS NULL AND code_hash IS NULL RETURNING *
       )
       SELECT i.id AS "identityId", p.name AS "providerName", done.sealed_data AS "sealedData",
         i.needs_second_factor AS "needsSecondFactor" FROM done
       JOIN user_identities i ON i.id = done.identity_id JOIN identity_providers p ON p.id = done.provider_id
       JOIN organizations o ON o.id = done.organization_id
       WHERE i.user_id = $2 AND p.is_enabled AND o.suspended_at IS NULL FOR SHARE OF i, p`,
      [id, userId],
    );
  }
}

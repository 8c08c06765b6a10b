import type { OrganizationId } from '#rules';
import { LIVE, SsoSignInEntity, type TenantStore, type Tx, touches } from '#entities';
import { IS_VALID_KEY } from '../accounts/account.store';
import { lockUser } from '../accounts/lock-user';

export type NewSsoSignIn = Pick<SsoSignInEntity, 'familyId' | 'identityId' | 'userId' | 'sealedData'>;

/** SQL: how long the issuer's word for a sign-in counts before it is asked again. Spread: not all are asked at once. */
export const CHECKED_FOR = `make_interval(secs => 540 + 60 * random())`;
/** How long a sign-in lasts when the issuer cannot be asked again. */
export const UNCHECKED_FOR = '8 hours';

/** A request to the issuer with the refresh token of a sign-in, whose answer is not recorded yet. */
export interface AskedSsoSignIn {
  readonly familyId: string;
  /** with the refresh token that was sent */
  readonly sealedData: Readonly<Record<string, string>>;
  readonly askedAt: string;
  /** an answer to an earlier request was lost: the token may have been used up by it, and a refusal proves nothing */
  readonly isInDoubt: boolean;
}

/** A user whom the issuer has refused. */
export interface RefusedUser {
  readonly id: string;
  readonly email: string;
  readonly identityProvider: string;
}

/** SQL: a user's access goes on without a sign-in. */
export const hasAccess = (user: string): string =>
  `(EXISTS (SELECT FROM sessions live WHERE live.user_id = ${user}.user_id AND live.status IN (${LIVE}))
    OR EXISTS (SELECT FROM api_keys k WHERE k.organization_id = ${user}.organization_id AND k.user_id = ${user}.user_id
      AND ${IS_VALID_KEY}))`;

/** SQL: ends the sign-ins that a condition on `s` names: no refresh token, and so no access token, of theirs is accepted. */
const endSignIns = (condition: string): string =>
  `WITH ended AS (DELETE FROM sso_sign_ins s WHERE s.organization_id = $1 AND ${condition} RETURNING s.family_id),
   revoked AS (UPDATE refresh_tokens SET revoked_at = now()
     WHERE family_id IN (SELECT family_id FROM ended) AND revoked_at IS NULL)
   SELECT FROM ended`;

/** Sign-ins that an issuer vouches for. */
export class SsoSignInStore implements TenantStore<SsoSignInStore> {
  /** In the transaction that saves the first refresh token of the family. The user is vouched for again. */
  async create(tx: Tx, organization: OrganizationId, signIn: NewSsoSignIn): Promise<void> {
    await tx.query(
      'UPDATE users SET sso_refused_at = NULL, sso_session_over_at = NULL WHERE organization_id = $1 AND id = $2',
      [organization, signIn.userId],
    );
    const checkedFor = signIn.sealedData === null ? `interval '${UNCHECKED_FOR}'` : CHECKED_FOR;
    const checkDueAt = (): string => `now() + ${checkedFor}`;
    await tx.insert(SsoSignInEntity, { ...signIn, organizationId: organization, checkDueAt });
  }

  /** Ends one sign-in: its user is locked first, as for every revocation. */
  async end(tx: Tx, organization: OrganizationId, userId: string, familyId: string): Promise<void> {
    await lockUser(tx, organization, userId);
    await tx.query(endSignIns('s.family_id = $2'), [organization, familyId]);
  }

  /**
   * Ends a sign-in whose issuer refused, unless its token was replaced or sent by another worker since: then that refusal may be
   * of a token that was used up, and so may be the next one. @returns whether it ended
   */
  async endAsked(
    tx: Tx,
    organization: OrganizationId,
    userId: string,
    { familyId, sealedData, askedAt }: AskedSsoSignIn,
  ): Promise<boolean> {
    await lockUser(tx, organization, userId);
    const isAsked = 's.family_id = $2 AND s.sealed_data = $3::jsonb AND s.asked_at = $4::timestamptz';
    const given = [organization, familyId, JSON.stringify(sealedData), askedAt];
    if (await touches(tx, endSignIns(isAsked), given)) return true;
    await tx.query('UPDATE sso_sign_ins SET asked_at = now() WHERE organization_id = $1 AND family_id = $2', [
      organization,
      familyId,
    ]);
    return false;
  }

  /** Ends the sign-ins by an identity: its user is locked first, as for every revocation. */
  async endOfIdentity(tx: Tx, organization: OrganizationId, identityId: string): Promise<void> {
    await tx.query(
      `SELECT FROM users WHERE organization_id = $1
         AND id = (SELECT user_id FROM user_identities WHERE organization_id = $1 AND id = $2) FOR NO KEY UPDATE`,
      [organization, identityId],
    );
    await tx.query(endSignIns('s.identity_id = $2'), [organization, identityId]);
  }

  /** Ends all sign-ins by a provider: its people are locked first, as for every revocation. */
  async endOfProvider(tx: Tx, organization: OrganizationId, providerId: string): Promise<void> {
    await tx.query(
      `SELECT FROM users WHERE organization_id = $1 AND id IN (
         SELECT user_id FROM user_identities WHERE organization_id = $1 AND provider_id = $2)
       ORDER BY id FOR NO KEY UPDATE`,
      [organization, providerId],
    );
    await tx.query(
      endSignIns(
        's.identity_id IN (SELECT id FROM user_identities WHERE organization_id = $1 AND provider_id = $2)',
      ),
      [organization, providerId],
    );
  }

  /** Whether an issuer vouches for a sign-in. */
  isVouchedFor(tx: Tx, organization: OrganizationId, familyId: string): Promise<boolean> {
    return touches(tx, 'SELECT FROM sso_sign_ins WHERE organization_id = $1 AND family_id = $2', [
      organization,
      familyId,
    ]);
  }
}

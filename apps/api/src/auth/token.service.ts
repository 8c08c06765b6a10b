import { Injectable } from '@nestjs/common';
import type { Tx } from '#entities';
import { type RefreshHolder, type RefreshOutcome, Tenants } from '#tenant-store';
import { AccessTokens, CompanySignInRequired, type Principal, type SignIn } from '#guards';
import { newOpaqueToken, opaqueTokenHash } from '#secrets';
import type { HostAddress } from '#rules';
import { ApiSettings } from '../api.settings';
import { recordAction } from '../audit/action-records';
import { unauthorized, type ApiError } from '../errors';
import { COOKIE_IDLE_SECONDS } from './dto/refresh-token-place';
import type { SignInClient } from './sign-in-client';
import { StoredPrincipals } from './stored-principals';

/** Reuse of the most recent token is tolerated this long, for parallel tabs and lost responses. */
const GRACE_SECONDS = 10;

export interface TokenPair {
  readonly principal: Principal;
  readonly accessToken: string;
  readonly refreshToken: string;
  /** seconds */
  readonly expiresIn: number;
  /** the tokens open nothing but the set-up of a second factor */
  readonly mfaSetupOnly: boolean;
}

/** Issues access tokens, rotates refresh tokens and revokes token families. */
@Injectable()
export class TokenService {
  constructor(
    private readonly stores: Tenants,
    private readonly principals: StoredPrincipals,
    private readonly accessTokens: AccessTokens,
    private readonly settings: ApiSettings,
  ) {}

  /** The first pair of a new sign-in. */
  async start(tx: Tx, principal: Principal, signIn: SignIn, client: SignInClient): Promise<TokenPair> {
    const pair = await this.issue(tx, principal, signIn, null, client);
    if (!pair) throw new Error('A sign-in that begins now cannot have ended');
    return pair;
  }

  /**
   * Consumes a refresh token and issues a new pair.
   * @throws ApiError 401, also while the password is expired; CompanySignInRequired; reuse of a token also revokes its whole family
   */
  async rotate(refreshToken: string, client: SignInClient): Promise<TokenPair> {
    const pair = await this.stores.transaction(async (tx) => {
      const use = await this.stores.refreshTokens.use(tx, opaqueTokenHash(refreshToken), GRACE_SECONDS);
      if (use.outcome === 'unknown') return null;
      if (use.outcome === 'reused') {
        // returned, not thrown: the revocation of the family must be committed
        await this.recordReuse(tx, use, client.address);
        return null;
      }
      const principal = await this.principalOf(tx, use);
      if (!principal) return null;
      const requirements = await this.stores.accounts.signInRequirements(tx, use.userId, use.organizationId);
      // thrown: the rollback keeps the token valid, so that using it again is not treated as theft
      const isVouchedFor = await this.stores.ssoSignIns.isVouchedFor(tx, use.organizationId, use.familyId);
      if (requirements?.companySignInRequired && !isVouchedFor) throw new CompanySignInRequired();
      if (!requirements || (requirements.passwordExpired && !isVouchedFor)) throw passwordExpired();
      // users who signed in before MFA was required stay signed in until the next login
      const mfaSetupOnly = use.mfaSetupOnly && !principal.mfaEnabled && requirements.mfaRequired;
      return this.issue(tx, principal, { id: use.familyId, mfaSetupOnly }, use.signedInAt, client);
    });
    if (!pair) throw invalidRefreshToken();
    return pair;
  }

  /** Signs out: revokes the token and its whole family. Unknown tokens are ignored. */
  async revoke(refreshToken: string, address: HostAddress | null): Promise<void> {
    await this.stores.transaction(async (tx) => {
      const holder = await this.stores.refreshTokens.revokeFamily(tx, opaqueTokenHash(refreshToken));
      const principal = holder && (await this.principalOf(tx, holder));
      if (!principal) return;
      await recordAction(tx, { principal, address }, 'USER_LOGOUT', {
        type: 'USER',
        id: principal.userId,
        name: principal.email,
      });
    });
  }

  /** @returns null when the sign-in has reached its maximum lifetime */
  private async issue(
    tx: Tx,
    principal: Principal,
    signIn: SignIn,
    signedInAt: Date | null,
    client: SignInClient,
  ): Promise<TokenPair | null> {
    const refresh = newOpaqueToken();
    const { organizationId, userId } = principal;
    const ttl = this.settings.REFRESH_TOKEN_TTL;
    const secondsLeft = await this.stores.refreshTokens.save(tx, {
      organizationId,
      userId,
      familyId: signIn.id,
      tokenHash: refresh.hash,
      mfaSetupOnly: signIn.mfaSetupOnly,
      signedInAt,
      ttlSeconds: client.isBrowser ? Math.min(ttl, COOKIE_IDLE_SECONDS) : ttl,
      maxDays: this.settings.SIGN_IN_MAX_DAYS,
      ipAddress: client.address?.text ?? null,
      userAgent: client.userAgent,
    });
    if (secondsLeft === null) return null;
    const { accessToken, expiresIn } = await this.accessTokens.issue(principal, signIn, secondsLeft);
    return {
      principal,
      accessToken,
      expiresIn,
      refreshToken: refresh.plainText,
      mfaSetupOnly: signIn.mfaSetupOnly,
    };
  }

  private principalOf(tx: Tx, { userId, organizationId }: RefreshHolder): Promise<Principal | null> {
    return this.principals.ofAccount(tx, userId, organizationId);
  }

  private async recordReuse(tx: Tx, use: RefreshOutcome, address: HostAddress | null): Promise<void> {
    const principal = await this.principalOf(tx, use);
    await this.stores.audit.write(tx, use.organizationId, {
      eventType: 'TOKEN_REUSED',
      result: 'FAILURE',
      actorType: 'USER',
      actorId: use.userId,
      actorEmail: principal?.email ?? null,
      ipAddress: address?.text ?? null,
      resourceType: 'USER',
      resourceId: use.userId,
      resourceName: principal?.email ?? null,
      errorMessage: 'A refresh token was used again; everything that descends from its sign-in was revoked',
    });
  }
}

const passwordExpired = (): ApiError =>
  unauthorized('The password has expired: sign in with POST /auth/login to change it');
const invalidRefreshToken = (): ApiError => unauthorized('The refresh token is invalid, expired or revoked');

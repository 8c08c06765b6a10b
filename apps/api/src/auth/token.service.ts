import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  AccountStore,
  AuditStore,
  Database,
  RefreshTokenStore,
  type RefreshHolder,
  type RefreshOutcome,
  type Tx,
} from '#entities';
import { AccessTokens, type Principal, type SignIn } from '#guards';
import { newOpaqueToken, opaqueTokenHash } from '#secrets';
import { ApiSettings } from '../api.settings';
import { auditActor } from '../audit/audit-actor';
import { unauthorized, type ApiError } from '../errors';
import { principalOf } from './stored-principals';

/** How long the token just used may come again: two tabs, an answer that got lost. */
const GRACE_SECONDS = 10;

export interface TokenPair {
  readonly principal: Principal;
  readonly accessToken: string;
  readonly refreshToken: string;
  /** seconds */
  readonly expiresIn: number;
}

/** Issues tokens, rotates refresh tokens, ends their families. */
@Injectable()
export class TokenService {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountStore,
    private readonly refreshTokens: RefreshTokenStore,
    private readonly audit: AuditStore,
    private readonly accessTokens: AccessTokens,
    private readonly settings: ApiSettings,
  ) {}

  /** The first pair of a new sign-in. */
  start(tx: Tx, principal: Principal, mfaSetupOnly: boolean): Promise<TokenPair> {
    return this.issue(tx, principal, { id: randomUUID(), mfaSetupOnly });
  }

  /**
   * Gives a new pair for a refresh token and uses it up.
   * @throws ApiError 401; a token used a second time also ends its whole family
   */
  async rotate(refreshToken: string, callerAddress: string | null): Promise<TokenPair> {
    const pair = await this.database.transaction(async (tx) => {
      const use = await this.refreshTokens.use(tx, opaqueTokenHash(refreshToken), GRACE_SECONDS);
      if (use.outcome === 'unknown') return null;
      if (use.outcome === 'reused') {
        // returned, not thrown: the end of the family must be committed
        await this.recordReuse(tx, use, callerAddress);
        return null;
      }
      const principal = await this.principalOf(tx, use);
      if (!principal) return null;
      const mfaSetupOnly = use.mfaSetupOnly && (await this.stillLacksMfa(tx, principal));
      return this.issue(tx, principal, { id: use.familyId, mfaSetupOnly });
    });
    if (!pair) throw refused();
    return pair;
  }

  /** Signs out: the token and its whole family are worth nothing afterwards. Unknown tokens already are. */
  async revoke(refreshToken: string, callerAddress: string | null): Promise<void> {
    await this.database.transaction(async (tx) => {
      const holder = await this.refreshTokens.revokeFamily(tx, opaqueTokenHash(refreshToken));
      const principal = holder && (await this.principalOf(tx, holder));
      if (!principal) return;
      await this.audit.write(tx, principal.organizationId, {
        ...auditActor(principal, callerAddress),
        eventType: 'USER_LOGOUT',
        resourceType: 'USER',
        resourceId: principal.userId,
        resourceName: principal.email,
      });
    });
  }

  private async issue(tx: Tx, principal: Principal, signIn: SignIn): Promise<TokenPair> {
    const refresh = newOpaqueToken();
    const { organizationId, userId } = principal;
    await this.refreshTokens.save(tx, {
      organizationId,
      userId,
      familyId: signIn.id,
      tokenHash: refresh.hash,
      mfaSetupOnly: signIn.mfaSetupOnly,
      ttlSeconds: this.settings.REFRESH_TOKEN_TTL,
    });
    const { accessToken, expiresIn } = await this.accessTokens.issue(principal, signIn);
    return { principal, accessToken, expiresIn, refreshToken: refresh.plainText };
  }

  /** Only ever asked of who signed in without MFA: who signed in before it was required goes on until the next login. */
  private async stillLacksMfa(tx: Tx, { userId, organizationId, mfaEnabled }: Principal): Promise<boolean> {
    if (mfaEnabled) return false;
    const demands = await this.accounts.signInDemands(tx, userId, organizationId);
    return demands?.mfaRequired ?? true;
  }

  private async principalOf(tx: Tx, { userId, organizationId }: RefreshHolder): Promise<Principal | null> {
    return principalOf(await this.accounts.principalOfUser(tx, userId, organizationId));
  }

  private async recordReuse(tx: Tx, use: RefreshOutcome, callerAddress: string | null): Promise<void> {
    const principal = await this.principalOf(tx, use);
    await this.audit.write(tx, use.organizationId, {
      eventType: 'TOKEN_REUSED',
      result: 'FAILURE',
      actorType: 'USER',
      actorId: use.userId,
      actorEmail: principal?.email ?? null,
      ipAddress: callerAddress,
      resourceType: 'USER',
      resourceId: use.userId,
      resourceName: principal?.email ?? null,
      errorMessage: 'A refresh token was used again; everything that descends from its sign-in was revoked',
    });
  }
}

const refused = (): ApiError => unauthorized('The refresh token is invalid, expired or revoked');

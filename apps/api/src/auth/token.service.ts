import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AccountStore, AuditStore, Database, type RefreshOutcome, type Tx } from '#entities';
import { AccessTokens, type Principal } from '#guards';
import { newOpaqueToken, opaqueTokenHash } from '#secrets';
import { ApiSettings } from '../api.settings';
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
    private readonly audit: AuditStore,
    private readonly accessTokens: AccessTokens,
    private readonly settings: ApiSettings,
  ) {}

  /** A new pair, the refresh token in a family of its own unless one is given. */
  async issue(tx: Tx, principal: Principal, familyId: string = randomUUID()): Promise<TokenPair> {
    const refresh = newOpaqueToken();
    const { organizationId, userId } = principal;
    await this.accounts.saveRefreshToken(tx, {
      organizationId,
      userId,
      familyId,
      tokenHash: refresh.hash,
      ttlSeconds: this.settings.REFRESH_TOKEN_TTL,
    });
    const { accessToken, expiresIn } = await this.accessTokens.issue(principal);
    return { principal, accessToken, expiresIn, refreshToken: refresh.plainText };
  }

  /**
   * Gives a new pair for a refresh token and uses it up.
   * @throws ApiError 401; a token used a second time also ends its whole family
   */
  async rotate(refreshToken: string, callerAddress: string | null): Promise<TokenPair> {
    const pair = await this.database.transaction(async (tx) => {
      const use = await this.accounts.useRefreshToken(tx, opaqueTokenHash(refreshToken), GRACE_SECONDS);
      if (use.outcome === 'unknown') return null;
      if (use.outcome === 'reused') {
        // returned, not thrown: the end of the family must be committed
        await this.recordReuse(tx, use, callerAddress);
        return null;
      }
      const { userId, organizationId, familyId } = use;
      const principal = principalOf(await this.accounts.principalOfUser(tx, userId, organizationId));
      return principal && this.issue(tx, principal, familyId);
    });
    if (!pair) throw refused();
    return pair;
  }

  /** Signs out: the token and its whole family are worth nothing afterwards. Unknown tokens already are. */
  async revoke(refreshToken: string): Promise<void> {
    await this.accounts.revokeRefreshFamily(this.database.autocommit, opaqueTokenHash(refreshToken));
  }

  private async recordReuse(tx: Tx, use: RefreshOutcome, callerAddress: string | null): Promise<void> {
    const principal = await this.accounts.principalOfUser(tx, use.userId, use.organizationId);
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

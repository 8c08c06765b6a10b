import { setTimeout as pause } from 'node:timers/promises';
import type { Transactions } from '#entities';
import type { WokenTargets } from '#engine-store/port';
import { type MasterKeys, openCredential, sealCredential } from '#secrets';
import {
  type IssuerClaims,
  type IssuerClient,
  type IssuerClients,
  IssuerFailure,
  type IssuerFailureKind,
} from '#sso';
import type {
  AskedSsoSignIn,
  LeasedSsoSignIn,
  OverdueUser,
  SealedIdentityProvider,
  TenantStores,
} from '#tenant-store';

/** A failover takes a minute or two. */
const KEEP_PAUSES = [100, 500, ...Array<number>(60).fill(2000)];

interface VouchingOptions {
  /** called with targets whose access has ended */
  readonly wake: (targets: readonly WokenTargets[]) => void;
  /** between attempts to keep a new refresh token, in milliseconds */
  readonly keepPauses?: readonly number[];
}

/** Asks the issuer of one sign-in whether it still vouches for its user, and what the user's groups are. */
export class VouchingCheck {
  constructor(
    private readonly database: Transactions,
    private readonly stores: TenantStores,
    private readonly issuers: IssuerClients,
    private readonly masterKeys: MasterKeys,
    private readonly options: VouchingOptions,
  ) {}

  /**
   * Nothing but a refused refresh token ends access, and that only while no answer was lost: an issuer that is down is asked
   * again. After eight hours without its word the sign-in alone ends, as one does whose issuer cannot be asked.
   */
  async run(signIn: LeasedSsoSignIn): Promise<void> {
    const { organizationId, providerId } = signIn;
    const provider = await this.stores.identityProviders.findSealed(
      this.database.autocommit,
      organizationId,
      providerId,
    );
    // deleted since, and its sign-ins with it
    if (!provider) return;
    const { refreshToken = '' } = openCredential(this.masterKeys, { ...signIn, id: signIn.familyId });
    const client = await this.clientOf(provider);
    if (client instanceof IssuerFailure) return this.postpone(signIn, client, null);
    // first, and by itself: an answer that is lost must be known to be
    const asked = await this.stores.dueSsoSignIns.ask(this.database.autocommit, signIn);
    if (!asked) return;
    const answer = await failureOr(
      client.refresh(refreshToken, signIn.subject, (newToken) => this.keep(signIn, asked, newToken)),
    );
    if (!(answer instanceof IssuerFailure)) return this.vouch(signIn, provider, answer);
    const reason = reasonOf(answer.kind, asked.isInDoubt);
    if (reason === null)
      return this.postpone(signIn, answer, answer.isWithoutEffect && !asked.isInDoubt ? asked : null);
    const user = { id: signIn.userId, email: signIn.userEmail, identityProvider: provider.name };
    this.options.wake(
      await this.database.revocation((tx) =>
        this.stores.offboarding.refuse(tx, organizationId, user, asked, reason),
      ),
    );
  }

  /** Ends the access of a user who has not signed in again in time. */
  async endOverdue(user: OverdueUser): Promise<void> {
    this.options.wake(
      await this.database.revocation((tx) =>
        this.stores.offboarding.endUnlessSignedIn(tx, user.organizationId, user),
      ),
    );
  }

  private async clientOf(provider: SealedIdentityProvider): Promise<IssuerClient | IssuerFailure> {
    const { issuer, clientId, groupsClaim } = provider;
    const { clientSecret = '' } = openCredential(this.masterKeys, provider);
    return failureOr(this.issuers.of({ issuer, clientId, clientSecret, groupsClaim }));
  }

  /** The issuer may have ended the former token: without the new one it is not known whether it vouches for the user. */
  private async keep(
    { familyId, dataKey }: LeasedSsoSignIn,
    asked: AskedSsoSignIn,
    refreshToken: string | null,
  ): Promise<void> {
    const sealed =
      refreshToken === null ? null : sealCredential(this.masterKeys, dataKey, familyId, { refreshToken });
    for (const ms of this.options.keepPauses ?? KEEP_PAUSES) {
      try {
        return await this.stores.dueSsoSignIns.noteAnswer(this.database.autocommit, asked, sealed);
      } catch {
        await pause(ms);
      }
    }
    await this.stores.dueSsoSignIns.noteAnswer(this.database.autocommit, asked, sealed);
  }

  private async vouch(
    { familyId, organizationId, userId, userEmail, subject }: LeasedSsoSignIn,
    provider: SealedIdentityProvider,
    { groups, problem }: IssuerClaims,
  ): Promise<void> {
    const woken = await this.database.revocation(async (tx) => {
      await this.stores.dueSsoSignIns.recordVouched(tx, familyId);
      await this.stores.identityProviders.recordError(tx, organizationId, provider.id, null);
      await this.stores.userIdentities.recordClaimsError(tx, organizationId, provider.id, {
        subject,
        problem,
      });
      if (groups === null) return [];
      return this.stores.groupRoles.apply(tx, organizationId, provider, {
        id: userId,
        email: userEmail,
        groups,
      });
    });
    this.options.wake(woken);
  }

  private async postpone(
    { organizationId, providerId, userId, familyId }: LeasedSsoSignIn,
    { message }: IssuerFailure,
    answered: AskedSsoSignIn | null,
  ): Promise<void> {
    const { autocommit } = this.database;
    await this.stores.identityProviders.recordError(autocommit, organizationId, providerId, message);
    if (await this.stores.dueSsoSignIns.postpone(autocommit, familyId, answered)) return;
    await this.database.transaction((tx) => this.stores.ssoSignIns.end(tx, organizationId, userId, familyId));
  }
}

/** Why a sign-in ends; null: it does not. */
function reasonOf(
  kind: IssuerFailureKind,
  isInDoubt: boolean,
): 'REFUSED' | 'SESSION_OVER' | 'ANSWER_LOST' | null {
  if (kind === 'used-before') return 'ANSWER_LOST';
  if (kind !== 'refused' && kind !== 'session-over') return null;
  if (isInDoubt) return 'ANSWER_LOST';
  return kind === 'refused' ? 'REFUSED' : 'SESSION_OVER';
}

async function failureOr<T>(asked: Promise<T>): Promise<T | IssuerFailure> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof IssuerFailure) return error;
    throw error;
  }
}

import type { Database } from '#entities';
import type { WokenTargets } from '#engine-store/port';
import { type MasterKeys, openCredential, sealCredential } from '#secrets';
import { type IssuerClients, IssuerFailure, type IssuerGrant, TOO_MANY_GROUPS } from '#sso';
import {
  DueSsoSignInStore,
  GroupRolesStore,
  IdentityProviderStore,
  type LeasedSsoSignIn,
  OffboardingStore,
  type SealedIdentityProvider,
  SsoSignInStore,
} from '#tenant-store';

/** Asks the issuer of one sign-in whether it still vouches for its user, and what the user's groups are. */
export class VouchingCheck {
  private readonly due = new DueSsoSignInStore();
  private readonly signIns = new SsoSignInStore();
  private readonly providers = new IdentityProviderStore();
  private readonly groupRoles = new GroupRolesStore();
  private readonly offboarding = new OffboardingStore();

  /** @param wake called with targets whose access has ended */
  constructor(
    private readonly database: Database,
    private readonly issuers: IssuerClients,
    private readonly masterKeys: MasterKeys,
    private readonly wake: (targets: readonly WokenTargets[]) => void,
  ) {}

  /**
   * Nothing but a refused refresh token ends access: an issuer that is down is asked again. After eight hours without its word
   * the sign-in alone ends, as one does whose issuer cannot be asked.
   */
  async run(signIn: LeasedSsoSignIn): Promise<void> {
    const { organizationId, providerId, familyId, userId } = signIn;
    const provider = await this.providers.sealed(this.database.autocommit, organizationId, providerId);
    // deleted since, and its sign-ins with it
    if (!provider) return;
    const answer = await this.answerOf(signIn, provider);
    if (!(answer instanceof IssuerFailure)) return this.vouch(signIn, provider, answer);
    if (answer.kind === 'refused') return this.refuse(signIn, provider);
    const { autocommit } = this.database;
    await this.providers.recordError(autocommit, organizationId, providerId, answer.message);
    if (await this.due.postpone(autocommit, familyId)) return;
    await this.database.transaction((tx) => this.signIns.end(tx, organizationId, userId, familyId));
  }

  private async answerOf(
    signIn: LeasedSsoSignIn,
    provider: SealedIdentityProvider,
  ): Promise<IssuerGrant | IssuerFailure> {
    const { issuer, clientId, groupsClaim } = provider;
    const { clientSecret = '' } = openCredential(this.masterKeys, provider);
    const { refreshToken = '' } = openCredential(this.masterKeys, { ...signIn, id: signIn.familyId });
    try {
      const client = await this.issuers.of({ issuer, clientId, clientSecret, groupsClaim });
      return await client.refresh(refreshToken, signIn.subject);
    } catch (error) {
      if (error instanceof IssuerFailure) return error;
      throw error;
    }
  }

  private async vouch(
    { familyId, organizationId, userId, userEmail, dataKey }: LeasedSsoSignIn,
    provider: SealedIdentityProvider,
    { refreshToken, claims: { groups } }: IssuerGrant,
  ): Promise<void> {
    const sealed = sealCredential(this.masterKeys, dataKey, familyId, { refreshToken: refreshToken ?? '' });
    // first, and by itself: the issuer may have ended the former token, and a failure below must not lose this one
    await this.due.keep(this.database.autocommit, familyId, sealed);
    const woken = await this.database.revocation(async (tx) => {
      await this.due.vouched(tx, familyId);
      const error = groups === 'too-many' ? TOO_MANY_GROUPS : null;
      await this.providers.recordError(tx, organizationId, provider.id, error);
      if (groups === null || groups === 'too-many') return [];
      return this.groupRoles.apply(tx, organizationId, provider, { id: userId, email: userEmail, groups });
    });
    this.wake(woken);
  }

  private async refuse(
    { organizationId, familyId, userId, userEmail }: LeasedSsoSignIn,
    { name: identityProvider }: SealedIdentityProvider,
  ): Promise<void> {
    const woken = await this.database.revocation((tx) =>
      this.offboarding.refuse(
        tx,
        organizationId,
        { id: userId, email: userEmail },
        { familyId, identityProvider },
      ),
    );
    this.wake(woken);
  }
}

import { Injectable } from '@nestjs/common';
import { WakeUps } from '#jobs';
import type { HostAddress } from '#rules';
import { newOpaqueToken, opaqueTokenHash } from '#secrets';
import { IssuerFailure, type IssuerGrant } from '#sso';
import { type AnsweredSsoAttempt, type SealedIdentityProvider, Tenants } from '#tenant-store';
import { ApiSettings } from '../api.settings';
import { badRequest } from '../errors';
import { IssuersOfProviders } from './issuers-of-providers';
import { SIGN_IN_ERRORS, type SignInError } from './return-place';
import { SsoAccounts } from './sso-accounts';
import { SsoAddresses } from './sso-addresses';

/** Why an answer is refused. */
class SignInRefused extends Error {
  constructor(
    readonly code: SignInError,
    /** for administrators */
    message: string,
  ) {
    super(message);
  }
}

/** Takes the answers of issuers. */
@Injectable()
export class SsoCallbackService {
  constructor(
    private readonly stores: Tenants,
    private readonly issuers: IssuersOfProviders,
    private readonly accounts: SsoAccounts,
    private readonly addresses: SsoAddresses,
    private readonly wakeUps: WakeUps,
    private readonly settings: ApiSettings,
  ) {}

  /**
   * @param query of the callback, as it came
   * @returns where the browser goes, with a one-time code or an error
   * @throws ApiError 400 when the organization waits for no such answer, and no console can say so
   */
  async answer(slug: string, query: URLSearchParams, address: HostAddress | null): Promise<string> {
    const state = query.get('state') ?? '';
    const { autocommit, ssoAttempts } = this.stores;
    const attempt = await ssoAttempts.useState(autocommit, slug, opaqueTokenHash(state));
    // a page that was loaded again, or kept
    if (!attempt && this.settings.CONSOLE === 'on') return this.addresses.withError('console', 'over');
    if (!attempt) throw badRequest(SIGN_IN_ERRORS.over);
    const { returnsTo } = attempt;
    try {
      const provider = await this.providerOf(slug, attempt);
      return this.addresses.withCode(returnsTo, await this.prove(slug, attempt, provider, state, query));
    } catch (error) {
      const refused = error instanceof IssuerFailure ? refusalOf(error) : error;
      if (!(refused instanceof SignInRefused)) throw error;
      await this.recordFailure(attempt, refused.message, address);
      return this.addresses.withError(returnsTo, refused.code);
    }
  }

  private async providerOf(slug: string, attempt: AnsweredSsoAttempt): Promise<SealedIdentityProvider> {
    const { organizationId, providerId } = attempt;
    const { autocommit } = this.stores;
    const offered = await this.stores.offeredProviders.ofSlug(autocommit, slug);
    const provider = await this.stores.identityProviders.findSealed(autocommit, organizationId, providerId);
    if (!provider || !offered.some(({ id }) => id === providerId))
      throw new SignInRefused('ended', 'The identity provider or the organization is disabled');
    return provider;
  }

  /** @returns the one-time code. @throws IssuerFailure or SignInRefused */
  private async prove(
    slug: string,
    attempt: AnsweredSsoAttempt,
    provider: SealedIdentityProvider,
    state: string,
    query: URLSearchParams,
  ): Promise<string> {
    const { id } = attempt;
    const { nonce = '', codeVerifier = '' } = this.issuers.open(provider, attempt);
    const issuer = await this.issuers.of(provider);
    const grant = await issuer.redeem(this.addresses.callback(slug), query, { state, nonce, codeVerifier });
    const { identityId, refusal, woken } = await this.stores.transaction((tx) =>
      this.accounts.join(tx, provider, grant.claims),
    );
    this.wakeUps.wake('revoke-rules', woken);
    if (refusal !== null) throw new SignInRefused(refusal.code, refusal.reason);
    const { plainText: code, hash: codeHash } = newOpaqueToken();
    await this.stores.ssoAttempts.prove(this.stores.autocommit, id, {
      codeHash,
      identityId,
      secondFactorProven: grant.claims.secondFactorProven && provider.trustsSecondFactor,
      sealedData: this.sealed(id, provider, grant),
    });
    return code;
  }

  /** For the attempt's id, which becomes that of its sign-in. */
  private sealed(
    id: string,
    provider: SealedIdentityProvider,
    { refreshToken }: IssuerGrant,
  ): Record<string, string> | null {
    return refreshToken === null ? null : this.issuers.seal(provider, id, { refreshToken });
  }

  private recordFailure(
    { organizationId, providerId }: AnsweredSsoAttempt,
    reason: string,
    address: HostAddress | null,
  ): Promise<void> {
    return this.stores.audit.writeThrottledFailure(this.stores.autocommit, organizationId, {
      actorType: 'USER',
      actorId: null,
      actorEmail: null,
      ipAddress: address?.text ?? null,
      eventType: 'USER_LOGIN',
      resourceType: 'IDENTITY_PROVIDER',
      resourceId: providerId,
      resourceName: null,
      result: 'FAILURE',
      errorMessage: reason,
    });
  }
}

/** A code that the issuer does not take is no word about the person. */
function refusalOf({ kind, message }: IssuerFailure): SignInRefused {
  const code = kind === 'denied' || kind === 'unreachable' ? kind : 'invalid';
  return new SignInRefused(code, `The identity provider: ${message}`);
}

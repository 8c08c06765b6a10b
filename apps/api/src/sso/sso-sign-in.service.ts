import { createHash, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { newOpaqueToken, opaqueTokenHash } from '#secrets';
import { IssuerFailure } from '#sso';
import { type OfferedProvider, Tenants } from '#tenant-store';
import type { SignInClient } from '../auth/sign-in-client';
import { attemptOver, SignInService, type SignInOutcome } from '../auth/sign-in.service';
import { badRequest, notFound } from '../errors';
import type { CompleteSsoDto, StartSsoDto } from './dto/sso-sign-in.dto';
import { IssuersOfProviders } from './issuers-of-providers';
import { SsoAddresses } from './sso-addresses';

/** How a company sign-in begins and ends at its client. */
@Injectable()
export class SsoSignInService {
  constructor(
    private readonly stores: Tenants,
    private readonly issuers: IssuersOfProviders,
    private readonly addresses: SsoAddresses,
    private readonly signIn: SignInService,
  ) {}

  listOffered(slug: string): Promise<OfferedProvider[]> {
    return this.stores.offeredProviders.ofSlug(this.stores.autocommit, slug);
  }

  /**
   * @returns where the browser goes: to the issuer, or back with an error when that does not answer
   * @throws ApiError 404 when the organization has no such identity provider, 400 when there are several to choose from
   */
  async start(slug: string, { provider: wanted, challenge, returnTo }: StartSsoDto): Promise<string> {
    const { organizationId, id } = chosen(await this.listOffered(slug), wanted);
    const { autocommit } = this.stores;
    const provider = await this.stores.identityProviders.findSealed(autocommit, organizationId, id);
    if (!provider) throw noProvider();
    const { plainText: state, hash: stateHash } = newOpaqueToken();
    const [attemptId, nonce, codeVerifier] = [
      randomUUID(),
      newOpaqueToken().plainText,
      newOpaqueToken().plainText,
    ];
    try {
      const issuer = await this.issuers.of(provider);
      const url = await issuer.authorizationUrl(this.addresses.callback(slug), {
        state,
        nonce,
        codeVerifier,
      });
      await this.stores.ssoAttempts.begin(autocommit, organizationId, {
        id: attemptId,
        providerId: id,
        stateHash,
        sealedData: this.issuers.seal(provider, attemptId, { nonce, codeVerifier }),
        clientChallenge: challenge,
        returnsTo: returnTo,
      });
      return url.href;
    } catch (error) {
      if (!(error instanceof IssuerFailure)) throw error;
      await this.stores.identityProviders.recordError(autocommit, organizationId, id, error.message);
      return this.addresses.withError(returnTo, error.kind === 'unreachable' ? 'unreachable' : 'invalid');
    }
  }

  /** @throws ApiError 401 when the code is over, or of a sign-in that another client began: then it is used up, too */
  async complete(
    { code, verifier, deviceToken = null }: CompleteSsoDto,
    client: SignInClient,
  ): Promise<SignInOutcome> {
    const attempt = await this.stores.ssoAttempts.useCode(this.stores.autocommit, opaqueTokenHash(code));
    if (!attempt || attempt.userId === null || attempt.clientChallenge !== challengeOf(verifier))
      throw attemptOver();
    const { id: attemptId, userId, organizationId } = attempt;
    const mfaPassed = attempt.secondFactorProven && !attempt.needsSecondFactor;
    return this.stores.transaction((tx) =>
      this.signIn.advance(tx, { userId, organizationId }, { mfaPassed, client, deviceToken, attemptId }),
    );
  }
}

const challengeOf = (verifier: string): string =>
  createHash('sha256').update(verifier, 'utf8').digest('base64url');

function chosen(offered: readonly OfferedProvider[], wanted: string | undefined): OfferedProvider {
  if (wanted === undefined && offered.length > 1)
    throw badRequest('The organization has several identity providers: name one', {
      provider: 'must be one of GET /auth/sso/{slug}/providers',
    });
  const provider = offered.find(({ id }) => wanted === undefined || id === wanted);
  if (!provider) throw noProvider();
  return provider;
}

const noProvider = (): Error => notFound('There is no such company sign-in: people sign in with a password');

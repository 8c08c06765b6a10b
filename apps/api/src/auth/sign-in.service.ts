import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Tx } from '#entities';
import { TenantStores } from '#tenant-store';
import { CompanySignInRequired, StepTokens, type Principal } from '#guards';
import { newOpaqueToken, opaqueTokenHash } from '#secrets';
import { forbidden, unauthorized, type ApiError } from '../errors';
import { AccountAudit } from './account-audit';
import { MfaChallenges } from './mfa-challenges';
import type { SignInClient } from './sign-in-client';
import { StoredPrincipals } from './stored-principals';
import { TokenService, type TokenPair } from './token.service';

const PASSWORD_CHANGE_SECONDS = 600;

export interface Account {
  readonly userId: string;
  readonly organizationId: string;
}

/** The next step after a correct password or a company sign-in. */
export type SignInOutcome =
  | { readonly step: 'mfa-challenge'; readonly token: string; readonly expiresIn: number }
  | { readonly step: 'password-change'; readonly token: string }
  | {
      readonly step: 'signed-in';
      readonly pair: TokenPair;
      readonly mfaSetupRequired: boolean;
      readonly deviceToken: string;
    };

/** The state of a sign-in. */
export interface SignInProgress {
  /** whether the second factor was verified, by us or by an issuer whose one counts */
  readonly mfaPassed: boolean;
  readonly client: SignInClient;
  /** the token the client claims to have received at an earlier sign-in */
  readonly deviceToken: string | null;
  /** of the company sign-in that proved who signs in; null: a password did */
  readonly attemptId: string | null;
}

/** The steps after a correct password or a company sign-in: second factor, replacement of an expired password, tokens. */
@Injectable()
export class SignInService {
  constructor(
    private readonly stores: TenantStores,
    private readonly principals: StoredPrincipals,
    private readonly challenges: MfaChallenges,
    private readonly steps: StepTokens,
    private readonly tokens: TokenService,
    private readonly audit: AccountAudit,
  ) {}

  /**
   * Determines and performs the next step.
   * @throws ApiError 401 when the user was deactivated or deleted meanwhile; CompanySignInRequired for a password sign-in
   */
  async advance(tx: Tx, account: Account, progress: SignInProgress): Promise<SignInOutcome> {
    const { userId, organizationId } = account;
    const { mfaPassed, client, attemptId } = progress;
    const principal = await this.principals.ofAccount(tx, userId, organizationId);
    const requirements = await this.stores.accounts.signInRequirements(tx, userId, organizationId);
    if (!principal || !requirements) throw attemptId === null ? wrongCredentials() : attemptOver();
    if (requirements.companySignInRequired && attemptId === null) throw new CompanySignInRequired();
    if (principal.mfaEnabled && !mfaPassed) {
      return { step: 'mfa-challenge', ...(await this.challenges.begin(tx, principal, attemptId)) };
    }
    if (requirements.passwordExpired && attemptId === null)
      return this.requirePasswordChange(tx, principal, mfaPassed);
    await this.stores.accounts.recordLogin(tx, userId);
    const identityProvider = attemptId === null ? null : await this.beginVouched(tx, attemptId, principal);
    const details = identityProvider === null ? {} : { identityProvider };
    await this.audit.recordSuccess(tx, 'USER_LOGIN', principal, client.address, details);
    const mfaSetupRequired = requirements.mfaRequired && !principal.mfaEnabled && !mfaPassed;
    return this.issueTokens(tx, principal, mfaSetupRequired, progress);
  }

  /** Completes a sign-in: issues its first tokens. */
  async issueTokens(
    tx: Tx,
    principal: Principal,
    mfaSetupRequired: boolean,
    { client, deviceToken, attemptId }: Omit<SignInProgress, 'mfaPassed'>,
  ): Promise<SignInOutcome> {
    const id = attemptId ?? randomUUID();
    const pair = await this.tokens.start(tx, principal, { id, mfaSetupOnly: mfaSetupRequired }, client);
    const device = await this.rememberDevice(tx, principal, deviceToken);
    return { step: 'signed-in', pair, mfaSetupRequired, deviceToken: device };
  }

  /**
   * Records that a device signed in to an account: a lock caused by others' failed attempts does not apply to it.
   * @param presented the token it sent; an unknown token is replaced, not adopted
   * @returns the token to send with the next sign-in
   */
  private async rememberDevice(
    tx: Tx,
    { userId, organizationId }: Principal,
    presented: string | null,
  ): Promise<string> {
    const { knownDevices } = this.stores;
    const isKnown = presented !== null && (await knownDevices.isKnown(tx, opaqueTokenHash(presented)));
    const token = isKnown ? presented : newOpaqueToken().plainText;
    await knownDevices.remember(tx, { userId, organizationId, tokenHash: opaqueTokenHash(token) });
    return token;
  }

  /**
   * An issuer vouches for a sign-in, which has the attempt's id. An identity that an administrator has linked to a person who
   * had signed in before is confirmed by the second factor that `advance` has asked for.
   * @returns the name of the identity provider
   * @throws ApiError 403 when the person has none
   */
  private async beginVouched(
    tx: Tx,
    attemptId: string,
    { userId, organizationId, mfaEnabled }: Principal,
  ): Promise<string> {
    if (mfaEnabled) await this.stores.ssoAttempts.confirm(tx, attemptId);
    const finished = await this.stores.ssoAttempts.finish(tx, attemptId, userId);
    if (!finished) throw attemptOver();
    if (finished.needsSecondFactor) throw unconfirmed();
    const { identityId, sealedData, providerName } = finished;
    await this.stores.ssoSignIns.create(tx, organizationId, {
      familyId: attemptId,
      identityId,
      userId,
      sealedData,
    });
    return providerName;
  }

  /** The claims of a password-change token issued by `advance`. @returns null when it is invalid or expired */
  passwordChange(token: string): Promise<{ readonly id: string; readonly mfaPassed: boolean } | null> {
    return this.steps.verify('password-change', token);
  }

  private async requirePasswordChange(
    tx: Tx,
    { userId, organizationId }: Principal,
    mfaPassed: boolean,
  ): Promise<SignInOutcome> {
    const { plainText: id, hash: tokenHash } = newOpaqueToken();
    await this.stores.accountTokens.create(tx, {
      organizationId,
      userId,
      purpose: 'PASSWORD_CHANGE',
      tokenHash,
      ttlSeconds: PASSWORD_CHANGE_SECONDS,
    });
    const claims = { userId, organizationId, id, mfaPassed, attemptId: null };
    return {
      step: 'password-change',
      token: await this.steps.issue('password-change', claims, PASSWORD_CHANGE_SECONDS),
    };
  }
}

const unconfirmed = (): ApiError =>
  forbidden(
    'An administrator has linked this identity to an account that is in use: its own second factor confirms that once. Sign in as before, and set up a second factor first',
  );

export const attemptOver = (): ApiError =>
  unauthorized('This company sign-in is over, or it began in another place: begin it again');

/** The same whether or not there are such organizations. */
export const wrongCredentials = (): ApiError =>
  unauthorized(
    'The e-mail address or the password is wrong. If several organizations know the address, send organizationSlug',
  );

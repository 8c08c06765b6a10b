import { Injectable } from '@nestjs/common';
import type { AuditActor, Tx } from '#entities';
import { WorkloadTokens, type Principal } from '#guards';
import type { HostAddress, OrganizationId } from '#rules';
import { type OidcTrustRow, Tenants } from '#tenant-store';
import { badRequest, notFound, unauthorized, type ApiError } from '../errors';
import { Audiences } from './audiences';
import { claimOf } from './conditions';
import type { ExchangeIdTokenDto, WorkloadTokenDto } from './dto/oidc-exchange.dto';
import { parseIdToken, type ParsedIdToken } from './id-token';
import { IdTokenVerifier, tokenUse } from './id-token-verifier';
import { Issuers } from './issuers';
import { checked, failureIn, trustChecks, type TokenCheck } from './token-check';

/** Claims that say which job exchanged its token; recorded in the audit trail where a token has them. */
const JOB_CLAIMS = (
  'sub repository workflow_ref event_name run_id run_attempt actor sha ' +
  'project_path ref pipeline_id job_id user_login ' +
  'organization_slug pipeline_slug build_number build_branch build_commit ' +
  'terraform_full_workspace terraform_run_phase terraform_run_id'
).split(' ');

/** Why a token is refused, for the audit trail only. */
interface Refusal {
  readonly check: TokenCheck;
  readonly trust: OidcTrustRow | null;
}

/** Exchanges ID tokens of CI jobs for access tokens. */
@Injectable()
export class OidcExchangeService {
  constructor(
    private readonly stores: Tenants,
    private readonly audiences: Audiences,
    private readonly verifier: IdTokenVerifier,
    private readonly tokens: WorkloadTokens,
    private readonly issuers: Issuers,
  ) {}

  /** @throws ApiError 401, the same for every reason; 400 when the verified token fits several trusts */
  async exchange(dto: ExchangeIdTokenDto, address: HostAddress | null): Promise<WorkloadTokenDto> {
    const token = parseIdToken(dto.idToken);
    const organization =
      typeof token === 'string' ? null : this.audiences.organizationOf(token.claims['aud']);
    if (typeof token === 'string' || organization === null) throw refused();
    const fitting = await this.findFittingTrust(organization, token, dto.trustId ?? null);
    if ('check' in fitting) {
      await this.recordRefusal(organization, fitting, address);
      throw refused();
    }
    const isNew = await this.stores.transaction((tx) => this.use(tx, organization, fitting, token, address));
    if (!isNew) {
      await this.recordRefusal(organization, { check: usedCheck(token), trust: fitting }, address);
      throw refused();
    }
    const { id: trustId, serviceUserId: userId, revision, scopes } = fitting;
    const claims = { trustId, organizationId: organization, userId, revision };
    return { ...(await this.tokens.issue(claims)), tokenType: 'Bearer', scopes };
  }

  /** Every check of a token against a trust. Issues and uses nothing. @throws ApiError 404 */
  async explain({ organizationId }: Principal, id: string, idToken: string): Promise<TokenCheck[]> {
    const tx = this.stores.autocommit;
    const trust = await this.stores.oidcTrusts.find(tx, organizationId, id);
    if (!trust) throw notFound(`Trust ${id} does not exist`);
    const token = parseIdToken(idToken);
    if (typeof token === 'string') return [checked('token', 'a signed JWT', token, false)];
    const checks = await this.verify(organizationId, trust.issuer, token);
    const isUsed =
      failureIn(checks) === undefined &&
      (await this.stores.oidcTrusts.isUsed(tx, organizationId, tokenUse(token).hash));
    return [...checks, ...(isUsed ? [usedCheck(token)] : []), ...trustChecks(trust, token.claims)];
  }

  private async findFittingTrust(
    organization: OrganizationId,
    token: ParsedIdToken,
    trustId: string | null,
  ): Promise<OidcTrustRow | Refusal> {
    const { iss } = token.claims;
    if (!this.issuers.allows(iss)) return { check: notAllowed(iss), trust: null };
    const { autocommit } = this.stores;
    const trusts = await this.stores.oidcTrusts.ofIssuer(autocommit, organization, iss, trustId);
    if (trusts.length === 0) return { check: unknownTrust(iss, trustId), trust: null };
    const failure = failureIn(await this.verify(organization, iss, token));
    if (failure) return { check: failure, trust: trusts.length === 1 ? trusts[0]! : null };
    const results = trusts.map((trust) => {
      const failures = trustChecks(trust, token.claims).filter(({ ok }) => !ok);
      return { trust, failures };
    });
    const fitting = results.filter(({ failures }) => failures.length === 0).map(({ trust }) => trust);
    if (fitting.length > 1) throw ambiguous(fitting);
    if (fitting.length === 1) return fitting[0]!;
    // the trust that was probably meant
    const [closest] = results.toSorted((one, other) => one.failures.length - other.failures.length);
    return { check: closest!.failures[0]!, trust: closest!.trust };
  }

  private async verify(
    organization: OrganizationId,
    issuer: string,
    token: ParsedIdToken,
  ): Promise<TokenCheck[]> {
    if (!this.issuers.allows(issuer)) return [notAllowed(issuer)];
    return this.verifier.checks(token, { issuer, audience: this.audiences.of(organization) });
  }

  /** @returns false when the token was exchanged before */
  private async use(
    tx: Tx,
    organization: OrganizationId,
    trust: OidcTrustRow,
    token: ParsedIdToken,
    address: HostAddress | null,
  ): Promise<boolean> {
    const { hash, until } = tokenUse(token);
    if (!(await this.stores.oidcTrusts.use(tx, organization, hash, until))) return false;
    await this.stores.oidcTrusts.recordUse(tx, organization, trust.id);
    await this.stores.audit.write(tx, organization, {
      actorType: 'USER',
      actorId: trust.serviceUserId,
      actorEmail: trust.serviceUserEmail,
      ipAddress: address?.text ?? null,
      eventType: 'OIDC_TOKEN_EXCHANGED',
      resourceType: 'OIDC_TRUST',
      resourceId: trust.id,
      resourceName: trust.name,
      details: { issuer: trust.issuer, scopes: trust.scopes, job: jobOf(token.claims) },
    });
    return true;
  }

  /** Names the claim, not what was found: anybody can send a token that names an organization. */
  private async recordRefusal(
    organization: OrganizationId,
    { check, trust }: Refusal,
    address: HostAddress | null,
  ): Promise<void> {
    await this.stores.audit.writeThrottledFailure(this.stores.autocommit, organization, {
      ...UNKNOWN_ACTOR,
      ipAddress: address?.text ?? null,
      eventType: 'OIDC_EXCHANGE_REFUSED',
      resourceType: 'OIDC_TRUST',
      resourceId: trust?.id ?? null,
      resourceName: trust?.name ?? null,
      result: 'FAILURE',
      errorMessage: `An ID token was refused: ${check.claim} must be ${check.wanted}`,
      details: { claim: check.claim },
    });
  }
}

const UNKNOWN_ACTOR: AuditActor = { actorType: 'USER', actorId: null, actorEmail: null, ipAddress: null };

const notAllowed = (issuer: unknown): TokenCheck =>
  checked('iss', 'an issuer that the operator allows', issuer, false);

const unknownTrust = (issuer: unknown, trustId: string | null): TokenCheck =>
  trustId === null
    ? checked('iss', 'the issuer of a trust', issuer, false)
    : checked('trust', 'one of the organization, with the issuer of the token', trustId, false);

const usedCheck = ({ claims }: ParsedIdToken): TokenCheck =>
  checked('jti', 'of a token that was not exchanged before', claims['jti'], false);

const jobOf = (claims: ParsedIdToken['claims']): Record<string, string> =>
  Object.fromEntries(
    JOB_CLAIMS.flatMap((claim) => {
      const { found } = checked(claim, '', claimOf(claims, claim) ?? undefined, true);
      return found === null ? [] : [[claim, found]];
    }),
  );

const refused = (): ApiError =>
  unauthorized(
    'The ID token is refused. An administrator finds the reason with POST /oidc-trusts/{id}/explain and in the audit logs',
  );

function ambiguous(trusts: readonly OidcTrustRow[]): ApiError {
  const names = trusts.map(({ id, name }) => `${id} (${name})`).join(', ');
  return badRequest(`The ID token fits several trusts: send trustId, one of ${names}`, {
    trustId: 'must name the trust: several fit',
  });
}

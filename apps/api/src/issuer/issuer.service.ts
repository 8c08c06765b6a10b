import { Injectable } from '@nestjs/common';
import { Identities, issuerConfiguration, type IssuerConfiguration } from '#credentials';
import { asOrganizationId } from '#rules';
import type { PublicIdentityKey } from '#secrets';
import { Tenants } from '#tenant-store';
import { notFound } from '../errors';

/** As ids are stored: clouds compare issuers character by character. */
const ORGANIZATION_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * What an organization's issuer publishes. A suspended organization has its issuer, and a deleted one until its last rule is
 * gone: removals need it.
 */
@Injectable()
export class IssuerService {
  constructor(
    private readonly stores: Tenants,
    private readonly identities: Identities,
  ) {}

  /** @param id as in the path @throws ApiError 404 when no organization has it, or this deployment has no issuer */
  async configuration(id: string): Promise<IssuerConfiguration> {
    return issuerConfiguration(await this.issuerOf(id));
  }

  /** @param id as in the path @throws ApiError 404 as `configuration` */
  async keys(id: string): Promise<readonly PublicIdentityKey[]> {
    await this.issuerOf(id);
    return this.identities.readPublicKeys();
  }

  /** One look-up by primary key. */
  private async issuerOf(id: string): Promise<string> {
    const issuer = ORGANIZATION_ID.test(id) ? this.identities.issuerOf(id) : null;
    if (
      issuer === null ||
      !(await this.stores.organizations.hasIssuer(this.stores.autocommit, asOrganizationId(id)))
    )
      throw notFound(
        'There is no such issuer: the path has no organization’s id, or OIDC_ISSUER_URL is not set',
      );
    return issuer;
  }
}

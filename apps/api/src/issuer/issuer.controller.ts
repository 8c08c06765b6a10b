import { Controller, Get, Header, Param } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Identities, issuerConfiguration } from '#credentials';
import { Public } from '#guards';
import { Answers } from '../docs/answers';
import { notFound } from '../errors';
import { ISSUER_PATH } from '../http/unprefixed-paths';
import { Uncounted } from '../rate-limit/rate-limit.decorators';
import { IssuerConfigurationDto, PublicKeysDto } from './dto/issuer.dto';

/** As ids are stored: clouds compare issuers character by character. */
const ORGANIZATION_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** A new key is published for a day before it signs. */
const CACHE_CONTROL = 'public, max-age=3600';

/**
 * What clouds fetch of an organization's issuer. The answer is the same for ids of no organization: it tells nothing about
 * who exists, and costs no look-up. Not rate limited: a cloud's fetches come from few addresses.
 */
@ApiTags('Issuer')
@Public()
@Uncounted()
@Controller(`${ISSUER_PATH}/:organizationId`)
export class IssuerController {
  constructor(private readonly identities: Identities) {}

  @Get('.well-known/openid-configuration')
  @Header('Cache-Control', CACHE_CONTROL)
  @ApiOperation({ summary: 'Describe the issuer of an organization (OpenID Connect Discovery)' })
  @Answers({ 200: IssuerConfigurationDto, errors: [404] })
  configuration(@Param('organizationId') organizationId: string): IssuerConfigurationDto {
    return issuerConfiguration(this.issuerOf(organizationId));
  }

  @Get('jwks')
  @Header('Cache-Control', CACHE_CONTROL)
  @ApiOperation({ summary: 'Get the public keys of an organization’s issuer' })
  @Answers({ 200: PublicKeysDto, errors: [404] })
  async keys(@Param('organizationId') organizationId: string): Promise<PublicKeysDto> {
    this.issuerOf(organizationId);
    return { keys: await this.identities.published() };
  }

  private issuerOf(organizationId: string): string {
    const issuer = ORGANIZATION_ID.test(organizationId) ? this.identities.issuerOf(organizationId) : null;
    if (issuer !== null) return issuer;
    throw notFound('There is no such issuer: OIDC_ISSUER_URL is not set, or the path has no organization id');
  }
}

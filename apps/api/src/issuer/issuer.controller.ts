import { Controller, Get, Header, Param } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Public } from '#guards';
import { Operation } from '../docs/operation';
import { ISSUER_PATH } from '../http/unprefixed-paths';
import { CountedOnlyAs } from '../rate-limit/rate-limit.decorators';
import { IssuerConfigurationDto, PublicKeysDto } from './dto/issuer.dto';
import { IssuerService } from './issuer.service';

/** A new key is published for a day before it signs. */
const CACHE_CONTROL = 'public, max-age=3600';

/** What clouds fetch of an organization's issuer, without an account. */
@ApiTags('Issuer')
@Public()
@CountedOnlyAs(['issuer'])
@Controller(`${ISSUER_PATH}/:organizationId`)
export class IssuerController {
  constructor(private readonly issuers: IssuerService) {}

  @Get('.well-known/openid-configuration')
  @Header('Cache-Control', CACHE_CONTROL)
  @Operation('Describe the issuer of an organization (OpenID Connect Discovery)', {
    200: IssuerConfigurationDto,
    errors: [404],
  })
  configuration(@Param('organizationId') organizationId: string): Promise<IssuerConfigurationDto> {
    return this.issuers.configuration(organizationId);
  }

  @Get('jwks')
  @Header('Cache-Control', CACHE_CONTROL)
  @Operation('Get the public keys of an organization’s issuer', { 200: PublicKeysDto, errors: [404] })
  async keys(@Param('organizationId') organizationId: string): Promise<PublicKeysDto> {
    return { keys: await this.issuers.keys(organizationId) };
  }
}

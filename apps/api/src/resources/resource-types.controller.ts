import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Identities } from '#credentials';
import { CurrentPrincipal, SignedIn, type Principal } from '#guards';
import { PROVIDERS } from '#rules';
import { Operation } from '../docs/operation';
import { ProviderTypesDto } from './dto/provider-types.dto';
import { toProviderTypes } from './provider-types.mapper';

@ApiTags('Resources')
@Controller('resources/types')
export class ResourceTypesController {
  constructor(private readonly identities: Identities) {}

  @Get()
  @SignedIn({ scope: 'resources:read' })
  @Operation(
    'Describe credentials and resources, by provider',
    { 200: [ProviderTypesDto] },
    'Enough to build a form: fields, their formats, limits, and the least-privilege policy. The same for every ' +
      'organization, apart from the issuer in set-up commands; it changes with a release only.',
  )
  list(@CurrentPrincipal() { organizationId }: Principal): ProviderTypesDto[] {
    const identity = this.identities.identityOf(organizationId, 'CREDENTIAL');
    return PROVIDERS.map((provider) => toProviderTypes(provider, identity));
  }
}

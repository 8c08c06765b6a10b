import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Identities } from '#credentials';
import { CurrentPrincipal, SignedIn, type Principal } from '#guards';
import { PROVIDERS } from '#rules';
import { Answers } from '../docs/answers';
import { ProviderTypesDto } from './dto/provider-types.dto';
import { toProviderTypes } from './provider-types.mapper';

@ApiTags('Resources')
@Controller('resources/types')
export class ResourceTypesController {
  constructor(private readonly identities: Identities) {}

  @Get()
  @SignedIn({ scope: 'resources:read' })
  @ApiOperation({
    summary: 'Describe credentials and resources, by provider',
    description:
      'Enough to build a form: fields, their formats, limits, and the least-privilege policy. The same for every ' +
      'organization, apart from the issuer in set-up commands; it changes with a release only.',
  })
  @Answers({ 200: [ProviderTypesDto], errors: [401, 403] })
  list(@CurrentPrincipal() { organizationId }: Principal): ProviderTypesDto[] {
    const identity = this.identities.identityOf(organizationId, 'CREDENTIAL');
    return PROVIDERS.map((provider) => toProviderTypes(provider, identity));
  }
}

import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { SignedIn } from '#guards';
import { PROVIDERS } from '#rules';
import { Answers } from '../docs/answers';
import { ProviderTypesDto } from './dto/provider-types.dto';
import { toProviderTypes } from './provider-types.mapper';

@ApiTags('Resources')
@Controller('resources/types')
export class ResourceTypesController {
  @Get()
  @SignedIn({ scope: 'resources:read' })
  @ApiOperation({
    summary: 'Describe credentials and resources, by provider',
    description:
      'Enough to build a form: fields, their formats, limits, and the least-privilege policy. The same for every ' +
      'organization; it changes with a release only.',
  })
  @Answers({ 200: [ProviderTypesDto], errors: [401, 403] })
  list(): ProviderTypesDto[] {
    return PROVIDERS.map(toProviderTypes);
  }
}

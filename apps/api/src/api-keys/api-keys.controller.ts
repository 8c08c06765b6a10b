import { Body, Controller, Delete, Get, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AdminOnly, CurrentPrincipal, type Principal } from '#guards';
import { Operation } from '../docs/operation';
import { CurrentActor, type Actor } from '../http/actor';
import { ListPage } from '../http/list-page';
import { PathId } from '../http/path-id';
import { ApiKeysService } from './api-keys.service';
import { ApiKeyDto, ApiKeyQueryDto, CreateApiKeyDto, CreatedApiKeyDto } from './dto/api-key.dto';

@ApiTags('API keys')
@AdminOnly()
@Controller('api-keys')
export class ApiKeysController {
  constructor(private readonly keys: ApiKeysService) {}

  @Post()
  @Operation('Create an API key; it is returned only once, in this response', {
    201: CreatedApiKeyDto,
    errors: [404],
  })
  async create(@CurrentActor() actor: Actor, @Body() dto: CreateApiKeyDto): Promise<CreatedApiKeyDto> {
    const { row, plainTextKey } = await this.keys.create(actor, dto);
    return { ...row, plainTextKey };
  }

  @Get()
  @Operation("List the organization's API keys, including revoked ones", { 200: [ApiKeyDto] })
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: ApiKeyQueryDto,
  ): Promise<ListPage<ApiKeyDto>> {
    return new ListPage(query, await this.keys.list(principal, query));
  }

  @Delete(':id')
  @Operation('Revoke an API key: it is invalid from the next request on', { 204: null, errors: [404] })
  revoke(@CurrentActor() actor: Actor, @PathId() id: string): Promise<void> {
    return this.keys.revoke(actor, id);
  }
}

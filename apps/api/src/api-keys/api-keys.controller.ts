import { Body, Controller, Delete, Get, HttpCode, Post, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { AdminOnly, CurrentPrincipal, type Principal } from '#guards';
import type { HostAddress } from '#rules';
import { Answers } from '../docs/answers';
import { CallerAddress } from '../http/caller-address';
import { writePageHeaders } from '../http/page-headers';
import { PathId } from '../http/path-id';
import { toApiKey, toCreatedApiKey } from './api-key.mapper';
import { ApiKeysService } from './api-keys.service';
import { ApiKeyDto, ApiKeyQueryDto, CreateApiKeyDto, CreatedApiKeyDto } from './dto/api-key.dto';

@ApiTags('API keys')
@AdminOnly()
@Controller('api-keys')
export class ApiKeysController {
  constructor(private readonly keys: ApiKeysService) {}

  @Post()
  @ApiOperation({ summary: 'Make a key for a pipeline; the answer is the only place it is shown' })
  @Answers({ 201: CreatedApiKeyDto, errors: [400, 401, 403, 404] })
  async create(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @Body() asked: CreateApiKeyDto,
  ): Promise<CreatedApiKeyDto> {
    const { row, plainTextKey } = await this.keys.create(principal, asked, caller);
    return toCreatedApiKey(row, plainTextKey);
  }

  @Get()
  @ApiOperation({ summary: "The organization's keys, revoked ones too, newest first" })
  @Answers({ 200: [ApiKeyDto], errors: [400, 401, 403] })
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: ApiKeyQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ApiKeyDto[]> {
    const { rows, total } = await this.keys.list(principal, query, query);
    writePageHeaders(response, query, total);
    return rows.map(toApiKey);
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({ summary: 'Revoke a key: it counts for nothing from the next request on' })
  @Answers({ 204: null, errors: [400, 401, 403, 404] })
  revoke(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @PathId() id: string,
  ): Promise<void> {
    return this.keys.revoke(principal, id, caller);
  }
}

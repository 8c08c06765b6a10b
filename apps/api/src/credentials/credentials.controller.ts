import { Body, Controller, Delete, Get, HttpCode, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { AdminOnly, AllowedWhileSuspended, CurrentPrincipal, type Principal } from '#guards';
import type { HostAddress } from '#rules';
import { Answers } from '../docs/answers';
import { CallerAddress } from '../http/caller-address';
import { writePageHeaders } from '../http/page-headers';
import { PageQueryDto } from '../http/page-query.dto';
import { PathId } from '../http/path-id';
import { toCredential } from './credential.mapper';
import { CredentialsService } from './credentials.service';
import { CreateCredentialDto, CredentialDto, UpdateCredentialDto } from './dto/credential.dto';

@ApiTags('Credentials')
@AdminOnly()
@Controller('credentials')
export class CredentialsController {
  constructor(private readonly credentials: CredentialsService) {}

  @Post()
  @ApiOperation({ summary: 'Keep a cloud credential; its secrets are encrypted and never shown' })
  @Answers({ 201: CredentialDto, errors: [400, 401, 403] })
  async create(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @Body() asked: CreateCredentialDto,
  ): Promise<CredentialDto> {
    return toCredential(await this.credentials.create(principal, asked, caller));
  }

  @Get()
  @ApiOperation({ summary: "The organization's credentials by name" })
  @Answers({ 200: [CredentialDto], errors: [400, 401, 403] })
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: PageQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<CredentialDto[]> {
    const { rows, total } = await this.credentials.list(principal, query);
    writePageHeaders(response, query, total);
    return rows.map(toCredential);
  }

  @Get(':id')
  @ApiOperation({ summary: 'One credential' })
  @Answers({ 200: CredentialDto, errors: [400, 401, 403, 404] })
  async find(@CurrentPrincipal() principal: Principal, @PathId() id: string): Promise<CredentialDto> {
    return toCredential(await this.credentials.find(principal, id));
  }

  @Patch(':id')
  @AllowedWhileSuspended()
  @ApiOperation({ summary: 'Rename it, or put other secrets in, which are checked in the background' })
  @Answers({ 200: CredentialDto, errors: [400, 401, 403, 404] })
  async update(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @PathId() id: string,
    @Body() asked: UpdateCredentialDto,
  ): Promise<CredentialDto> {
    return toCredential(await this.credentials.update(principal, id, asked, caller));
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({ summary: 'Forget it and its secrets, once no resource and no rule needs it' })
  @Answers({ 204: null, errors: [400, 401, 403, 404] })
  remove(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @PathId() id: string,
  ): Promise<void> {
    return this.credentials.remove(principal, id, caller);
  }

  @Post(':id/verify')
  @AllowedWhileSuspended()
  @HttpCode(200)
  @ApiOperation({ summary: 'Ask the provider whether it takes it; isValid and verificationError tell' })
  @Answers({ 200: CredentialDto, errors: [400, 401, 403, 404] })
  async verify(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @PathId() id: string,
  ): Promise<CredentialDto> {
    return toCredential(await this.credentials.verify(principal, id, caller));
  }
}

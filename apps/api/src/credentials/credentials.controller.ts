import { Body, Controller, Delete, Get, Patch, Post, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Identities } from '#credentials';
import { AdminOnly, AllowedWhileSuspended, CurrentPrincipal, type Principal } from '#guards';
import type { CredentialRow } from '#tenant-store';
import { Answers } from '../docs/answers';
import { CurrentActor, type Actor } from '../http/actor';
import { ListPage } from '../http/list-page';
import { PageQueryDto } from '../http/page-query.dto';
import { PathId } from '../http/path-id';
import { toCredential } from './credential.mapper';
import { CredentialsService } from './credentials.service';
import { CreateCredentialDto, CredentialDto, UpdateCredentialDto } from './dto/credential.dto';

@ApiTags('Credentials')
@AdminOnly()
@Controller('credentials')
export class CredentialsController {
  constructor(
    private readonly credentials: CredentialsService,
    private readonly identities: Identities,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Create a credential; its secrets are encrypted and never returned' })
  @Answers({ 201: CredentialDto, errors: [400, 401, 403] })
  async create(@CurrentActor() actor: Actor, @Body() dto: CreateCredentialDto): Promise<CredentialDto> {
    return this.shown(actor.principal, await this.credentials.create(actor, dto));
  }

  @Get()
  @ApiOperation({ summary: "List the organization's credentials, by name" })
  @Answers({ 200: [CredentialDto], errors: [400, 401, 403] })
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: PageQueryDto,
  ): Promise<ListPage<CredentialDto>> {
    return new ListPage(query, await this.credentials.list(principal, query)).map((row) =>
      this.shown(principal, row),
    );
  }

  @Get(':id')
  @ApiOperation({ summary: 'Get a credential' })
  @Answers({ 200: CredentialDto, errors: [400, 401, 403, 404] })
  async find(@CurrentPrincipal() principal: Principal, @PathId() id: string): Promise<CredentialDto> {
    return this.shown(principal, await this.credentials.find(principal, id));
  }

  @Patch(':id')
  @AllowedWhileSuspended()
  @ApiOperation({
    summary: 'Rename a credential or replace its secrets, which are checked in the background',
  })
  @Answers({ 200: CredentialDto, errors: [400, 401, 403, 404] })
  async update(
    @CurrentActor() actor: Actor,
    @PathId() id: string,
    @Body() dto: UpdateCredentialDto,
  ): Promise<CredentialDto> {
    return this.shown(actor.principal, await this.credentials.update(actor, id, dto));
  }

  @Delete(':id')
  @ApiOperation({ summary: 'Delete a credential that no resource and no rule uses' })
  @Answers({ 204: null, errors: [400, 401, 403, 404] })
  remove(@CurrentActor() actor: Actor, @PathId() id: string): Promise<void> {
    return this.credentials.remove(actor, id);
  }

  @Post(':id/verify')
  @AllowedWhileSuspended()
  @ApiOperation({ summary: 'Verify a credential with its provider; see isValid and verificationError' })
  @Answers({ 200: CredentialDto, errors: [400, 401, 403, 404] })
  async verify(@CurrentActor() actor: Actor, @PathId() id: string): Promise<CredentialDto> {
    return this.shown(actor.principal, await this.credentials.verify(actor, id));
  }

  private shown({ organizationId }: Principal, row: CredentialRow): CredentialDto {
    return toCredential(row, organizationId, this.identities);
  }
}

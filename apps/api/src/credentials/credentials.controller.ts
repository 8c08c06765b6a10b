import { Body, Controller, Delete, Get, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Identities } from '#credentials';
import { DriverRegistry } from '#drivers';
import { AdminOnly, AllowedWhileSuspended, CurrentPrincipal, type Principal } from '#guards';
import type { CredentialRow } from '#tenant-store';
import { Operation } from '../docs/operation';
import { CurrentActor, type Actor } from '../http/actor';
import { ListPage } from '../http/list-page';
import { PathId } from '../http/path-id';
import { knownType } from '../providers/resource-types';
import { refuseScope } from './credential-fields';
import { toCredential, toCredentialSetup } from './credential.mapper';
import { CredentialsService } from './credentials.service';
import {
  CreateCredentialDto,
  CredentialDto,
  CredentialQueryDto,
  CredentialSetupDto,
  CredentialSetupQueryDto,
  UpdateCredentialDto,
} from './dto/credential.dto';

@ApiTags('Credentials')
@AdminOnly()
@Controller('credentials')
export class CredentialsController {
  constructor(
    private readonly credentials: CredentialsService,
    private readonly identities: Identities,
  ) {}

  @Post()
  @Operation('Create a credential; its secrets are encrypted and never returned', { 201: CredentialDto })
  async create(@CurrentActor() actor: Actor, @Body() dto: CreateCredentialDto): Promise<CredentialDto> {
    return this.shown(actor.principal, await this.credentials.create(actor, dto));
  }

  @Get()
  @Operation("List the organization's credentials", { 200: [CredentialDto] })
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: CredentialQueryDto,
  ): Promise<ListPage<CredentialDto>> {
    return new ListPage(query, await this.credentials.list(principal, query)).map((row) =>
      this.shown(principal, row),
    );
  }

  @Get(':id')
  @Operation('Get a credential', { 200: CredentialDto, errors: [404] })
  async find(@CurrentPrincipal() principal: Principal, @PathId() id: string): Promise<CredentialDto> {
    return this.shown(principal, await this.credentials.find(principal, id));
  }

  @Get(':id/setup')
  @Operation('Get what to paste into the cloud, for the types of resources that the credential is to open', {
    200: CredentialSetupDto,
    errors: [404],
  })
  async setup(
    @CurrentPrincipal() principal: Principal,
    @PathId() id: string,
    @Query() { resourceType, scope }: CredentialSetupQueryDto,
  ): Promise<CredentialSetupDto> {
    const row = await this.credentials.find(principal, id);
    const every = Object.keys(DriverRegistry.facts(row.provider).resourceTypes);
    const types = (resourceType ?? every).map((type) => knownType(row.provider, type));
    if (scope !== undefined) refuseScope(row, scope);
    return toCredentialSetup(row, principal.organizationId, this.identities, types, scope);
  }

  @Patch(':id')
  @AllowedWhileSuspended()
  @Operation('Rename a credential or replace its secrets, which are checked in the background', {
    200: CredentialDto,
    errors: [404],
  })
  async update(
    @CurrentActor() actor: Actor,
    @PathId() id: string,
    @Body() dto: UpdateCredentialDto,
  ): Promise<CredentialDto> {
    return this.shown(actor.principal, await this.credentials.update(actor, id, dto));
  }

  @Delete(':id')
  @Operation('Delete a credential that no resource and no rule uses', { 204: null, errors: [404] })
  remove(@CurrentActor() actor: Actor, @PathId() id: string): Promise<void> {
    return this.credentials.remove(actor, id);
  }

  @Post(':id/verify')
  @AllowedWhileSuspended()
  @Operation('Verify a credential with its provider; see isValid and verificationError', {
    200: CredentialDto,
    errors: [404],
  })
  async verify(@CurrentActor() actor: Actor, @PathId() id: string): Promise<CredentialDto> {
    return this.shown(actor.principal, await this.credentials.verify(actor, id));
  }

  private shown({ organizationId }: Principal, row: CredentialRow): CredentialDto {
    return toCredential(row, organizationId, this.identities);
  }
}

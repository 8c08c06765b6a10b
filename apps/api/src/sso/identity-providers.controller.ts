import { Body, Controller, Delete, Get, Patch, Post, Put, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AdminOnly, CurrentPrincipal, type Principal } from '#guards';
import type { IdentityProviderRow, UserIdentityRow } from '#tenant-store';
import { Operation } from '../docs/operation';
import { CurrentActor, type Actor } from '../http/actor';
import { ListPage } from '../http/list-page';
import { PageQueryDto } from '../http/page-query.dto';
import { PathId } from '../http/path-id';
import {
  CreateIdentityProviderDto,
  IdentityProviderDto,
  IdentityProviderQueryDto,
  IdentityProviderTestDto,
  LinkIdentityDto,
  UpdateIdentityProviderDto,
  UserIdentityDto,
} from './dto/identity-provider.dto';
import { IdentityProvidersService } from './identity-providers.service';
import { LinkedIdentities } from './linked-identities';
import { SsoAddresses } from './sso-addresses';

@ApiTags('Company sign-in')
@AdminOnly()
@Controller('identity-providers')
export class IdentityProvidersController {
  constructor(
    private readonly providers: IdentityProvidersService,
    private readonly identities: LinkedIdentities,
    private readonly addresses: SsoAddresses,
  ) {}

  @Post()
  @Operation(
    'Let people sign in with an OpenID Connect issuer',
    { 201: IdentityProviderDto, errors: [404] },
    'At most 10. Register `redirectUri` at the issuer, then call POST /identity-providers/{id}/test.',
  )
  async create(
    @CurrentActor() actor: Actor,
    @Body() dto: CreateIdentityProviderDto,
  ): Promise<IdentityProviderDto> {
    return this.shown(actor.principal, await this.providers.create(actor, dto));
  }

  @Get()
  @Operation("List the organization's identity providers, by name", { 200: [IdentityProviderDto] })
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: IdentityProviderQueryDto,
  ): Promise<ListPage<IdentityProviderDto>> {
    return new ListPage(query, await this.providers.list(principal, query)).map((provider) =>
      this.shown(principal, provider),
    );
  }

  @Get(':id')
  @Operation('Get an identity provider', { 200: IdentityProviderDto, errors: [404] })
  async find(@CurrentPrincipal() principal: Principal, @PathId() id: string): Promise<IdentityProviderDto> {
    return this.shown(principal, await this.providers.find(principal, id));
  }

  @Patch(':id')
  @Operation(
    'Change an identity provider',
    { 200: IdentityProviderDto, errors: [404], dryRun: 'provider' },
    'Omitted fields stay unchanged. The issuer cannot be changed while it has identities.',
  )
  async update(
    @CurrentActor() actor: Actor,
    @PathId() id: string,
    @Body() dto: UpdateIdentityProviderDto,
  ): Promise<IdentityProviderDto> {
    return this.shown(actor.principal, await this.providers.update(actor, id, dto));
  }

  @Delete(':id')
  @Operation(
    'Delete an identity provider and its identities',
    { 204: null, errors: [404] },
    'Ends the sign-ins by it. Users, their keys and their sessions stay.',
  )
  delete(@CurrentActor() actor: Actor, @PathId() id: string): Promise<void> {
    return this.providers.delete(actor, id);
  }

  @Post(':id/test')
  @Operation(
    'Read what the issuer publishes, and try how far a sign-in would come',
    { 200: IdentityProviderTestDto, errors: [404] },
    'A request for a sign-in and one with a made-up code show whether it knows the client, its secret and the redirect URI, as ' +
      'far as the issuer answers to them.',
  )
  test(@CurrentActor() actor: Actor, @PathId() id: string): Promise<IdentityProviderTestDto> {
    return this.providers.test(actor, id);
  }

  @Get(':id/identities')
  @Operation(
    'List the people the issuer has vouched for; those who wait to be linked come first',
    { 200: [UserIdentityDto], errors: [404] },
    'Of those who wait, the last 100 within 30 days.',
  )
  async listIdentities(
    @CurrentPrincipal() principal: Principal,
    @PathId() id: string,
    @Query() query: PageQueryDto,
  ): Promise<ListPage<UserIdentityDto>> {
    return new ListPage(query, await this.identities.list(principal, id, query));
  }

  @Put(':id/identities/:identityId')
  @Operation('Link an identity to a user, who can then sign in with it', {
    200: UserIdentityDto,
    errors: [404],
  })
  link(
    @CurrentActor() actor: Actor,
    @PathId() id: string,
    @PathId('identityId') identityId: string,
    @Body() { userId }: LinkIdentityDto,
  ): Promise<UserIdentityRow> {
    return this.identities.link(actor, id, identityId, userId);
  }

  @Delete(':id/identities/:identityId')
  @Operation(
    'Unlink an identity, and end the sign-ins by it',
    { 204: null, errors: [404] },
    'The next sign-in by it waits to be linked, or makes a new user where the provider creates users.',
  )
  unlink(
    @CurrentActor() actor: Actor,
    @PathId() id: string,
    @PathId('identityId') identityId: string,
  ): Promise<void> {
    return this.identities.unlink(actor, id, identityId);
  }

  private shown({ organizationSlug }: Principal, row: IdentityProviderRow): IdentityProviderDto {
    const { isEnabled, groupMappings, ...others } = row;
    return {
      ...others,
      enabled: isEnabled,
      groupMappings: groupMappings.map((mapping) => ({ ...mapping, isOrgAdmin: mapping.roleId === null })),
      redirectUri: this.addresses.callback(organizationSlug),
    };
  }
}

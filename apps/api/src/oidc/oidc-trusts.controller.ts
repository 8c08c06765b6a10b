import { Body, Controller, Delete, Get, Patch, Post, Query } from '@nestjs/common';
import { ApiExtraModels, ApiTags } from '@nestjs/swagger';
import { AdminOnly, AllowedWhileSuspended, CurrentPrincipal, type Principal } from '#guards';
import { OIDC_PRESETS, type OidcPreset } from '#entities';
import type { OidcTrustRow } from '#tenant-store';
import { Operation } from '../docs/operation';
import { invalidField } from '../errors';
import { CurrentActor, type Actor } from '../http/actor';
import { ListPage } from '../http/list-page';
import { PathId } from '../http/path-id';
import { Audiences } from './audiences';
import { DemandedClaimDto, OidcPresetDto } from './dto/oidc-preset.dto';
import { IdTokenDto, TokenCheckDto } from './dto/oidc-exchange.dto';
import {
  CreateOidcTrustDto,
  OidcTrustDto,
  OidcTrustQueryDto,
  UpdateOidcTrustDto,
} from './dto/oidc-trust.dto';
import { OidcExchangeService } from './oidc-exchange.service';
import { PRESETS } from './presets';
import { OidcTrustsService } from './oidc-trusts.service';

@ApiTags('Keyless CI')
@ApiExtraModels(DemandedClaimDto)
@AdminOnly()
@Controller('oidc-trusts')
export class OidcTrustsController {
  constructor(
    private readonly trusts: OidcTrustsService,
    private readonly exchanges: OidcExchangeService,
    private readonly audiences: Audiences,
  ) {}

  @Post()
  @Operation(
    'Trust the jobs of a CI system that fit conditions',
    { 201: OidcTrustDto, errors: [404] },
    'Creates a service user with the same name, as which the jobs act. Jobs request an ID token for the returned ' +
      '`audience` and exchange it with POST /auth/oidc/exchange.',
  )
  async create(@CurrentActor() actor: Actor, @Body() dto: CreateOidcTrustDto): Promise<OidcTrustDto> {
    this.refuseOtherAudience(actor, dto.audience);
    return this.shown(actor.principal, await this.trusts.create(actor, dto));
  }

  @Get()
  @Operation("List the organization's trusts, by name", { 200: [OidcTrustDto] })
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: OidcTrustQueryDto,
  ): Promise<ListPage<OidcTrustDto>> {
    return new ListPage(query, await this.trusts.list(principal, query)).map((trust) =>
      this.shown(principal, trust),
    );
  }

  @Get('presets')
  @Operation('List the presets of trusts, and what each demands of conditions', { 200: [OidcPresetDto] })
  presets(): OidcPresetDto[] {
    return OIDC_PRESETS.map(toPreset);
  }

  @Get(':id')
  @Operation('Get a trust', { 200: OidcTrustDto, errors: [404] })
  async find(@CurrentPrincipal() principal: Principal, @PathId() id: string): Promise<OidcTrustDto> {
    return this.shown(principal, await this.trusts.find(principal, id));
  }

  @Patch(':id')
  @AllowedWhileSuspended()
  @Operation(
    'Change a trust: name, conditions, scopes or isEnabled',
    { 200: OidcTrustDto, errors: [404] },
    'A change of anything but the name ends its access tokens. Sessions that jobs have started continue: stop them, or ' +
      'deactivate the service user. Resources are assigned by the roles of the service user.',
  )
  async update(
    @CurrentActor() actor: Actor,
    @PathId() id: string,
    @Body() dto: UpdateOidcTrustDto,
  ): Promise<OidcTrustDto> {
    this.refuseOtherAudience(actor, dto.audience);
    return this.shown(actor.principal, await this.trusts.update(actor, id, dto));
  }

  @Delete(':id')
  @Operation(
    'Delete a trust and its service user',
    { 204: null, errors: [404] },
    'Ends its access tokens, and live sessions and API keys of the service user.',
  )
  delete(@CurrentActor() actor: Actor, @PathId() id: string): Promise<void> {
    return this.trusts.delete(actor, id);
  }

  @Post(':id/explain')
  @AllowedWhileSuspended()
  @Operation(
    'Explain why an ID token is accepted or refused',
    { 200: [TokenCheckDto], errors: [404] },
    'Returns every check of the token against the trust. Issues nothing, and the token can still be exchanged.',
  )
  explain(
    @CurrentPrincipal() principal: Principal,
    @PathId() id: string,
    @Body() dto: IdTokenDto,
  ): Promise<TokenCheckDto[]> {
    return this.exchanges.explain(principal, id, dto.idToken);
  }

  private shown({ organizationId }: Principal, trust: OidcTrustRow): OidcTrustDto {
    const { revision: _, ...row } = trust;
    const audience = this.audiences.of(organizationId);
    return { ...row, audience, warnings: this.trusts.warningsOf(trust) };
  }

  /** A token for an audience that others have, too, would be one of a job of anybody's. @throws ApiError 400 */
  private refuseOtherAudience({ principal }: Actor, given: unknown): void {
    const audience = this.audiences.of(principal.organizationId);
    if ((given ?? audience) === audience) return;
    throw invalidField('audience', `cannot be chosen: jobs request their token for ${audience}`);
  }
}

function toPreset(preset: OidcPreset): OidcPresetDto {
  const { issuer, ids, oneOf, never } = PRESETS[preset];
  return {
    preset,
    issuer,
    demanded: ids,
    oneOf: oneOf.map((demands) => demands.map(({ claim, like }) => ({ claim, words: like?.[1] ?? null }))),
    refused: Object.entries(never).map(([claim, reason]) => ({ claim, reason })),
  };
}

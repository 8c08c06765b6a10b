import { Body, Controller, Delete, Get, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AdminOnly, AllowedWhileSuspended, CurrentPrincipal, SignedIn, type Principal } from '#guards';
import { Operation } from '../docs/operation';
import { CurrentActor, type Actor } from '../http/actor';
import { BulkResultsDto } from '../http/bulk.dto';
import { ListPage } from '../http/list-page';
import { PageQueryDto } from '../http/page-query.dto';
import { PathId } from '../http/path-id';
import { MessageDto } from '../http/message.dto';
import {
  AbandonResourceDto,
  CreateResourceDto,
  ResourceDto,
  ResourceWithWarningsDto,
  UpdateResourceDto,
} from './dto/resource.dto';
import { BulkResources } from './bulk-resources';
import { BulkCreateResourcesDto, BulkLabelsDto, BulkResourcesDto } from './dto/bulk-resources.dto';
import { DeleteResourceQueryDto, ResourceListQueryDto } from './dto/resource-query.dto';
import { ResourceGuardDto } from './dto/resource-guard.dto';
import { ResourceRuleDto } from './dto/resource-rule.dto';
import { HostGuardService } from './host-guard.service';
import { toResourceRule } from './resource-rule.mapper';
import { toResourceGuard } from './resource-guard.mapper';
import { ResourceEditingService } from './resource-editing.service';
import { toResource, toResourceFor, withWarnings } from './resource.mapper';
import { ResourcesService } from './resources.service';

@ApiTags('Resources')
@Controller('resources')
export class ResourcesController {
  constructor(
    private readonly resources: ResourcesService,
    private readonly editing: ResourceEditingService,
    private readonly hosts: HostGuardService,
    private readonly many: BulkResources,
  ) {}

  @Get()
  @SignedIn({ scope: 'resources:read' })
  @Operation("List the organization's resources", { 200: [ResourceDto] })
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: ResourceListQueryDto,
  ): Promise<ListPage<ResourceDto>> {
    const { page, size } = query;
    const slice = page === undefined && size === undefined ? {} : { page: page ?? 0, size: size ?? 100 };
    const list = await this.resources.list(principal, Object.assign(query, slice));
    return new ListPage({ page: 0, size: list.total, ...slice }, list).map(
      toResourceFor(principal, await this.resources.grantsOf(principal)),
    );
  }

  @Get(':id')
  @SignedIn({ scope: 'resources:read' })
  @Operation('Get a resource', { 200: ResourceDto, errors: [404] })
  async find(@CurrentPrincipal() principal: Principal, @PathId() id: string): Promise<ResourceDto> {
    const resource = await this.resources.find(principal, id);
    return toResourceFor(principal, await this.resources.grantsOf(principal))(resource);
  }

  @Post()
  @AdminOnly()
  @Operation(
    'Add a resource: a target whose access rules are managed',
    { 201: ResourceWithWarningsDto, errors: [404] },
    'It is inactive until POST /resources/{id}/verify succeeds or PATCH sets isActive.',
  )
  async create(
    @CurrentActor() actor: Actor,
    @Body() dto: CreateResourceDto,
  ): Promise<ResourceWithWarningsDto> {
    return withWarnings(await this.resources.create(actor, dto));
  }

  @Post('bulk')
  @AdminOnly()
  @Operation(
    'Add many resources',
    { 200: BulkResultsDto },
    'Each as with POST /resources. One of the same name and target is left as it is, so that the request can be repeated.',
  )
  createMany(@CurrentActor() actor: Actor, @Body() dto: BulkCreateResourcesDto): Promise<BulkResultsDto> {
    return this.many.create(actor, dto);
  }

  @Post('verify')
  @AllowedWhileSuspended()
  @AdminOnly()
  @Operation(
    'Verify many resources in the background',
    { 200: BulkResultsDto },
    'Each as with POST /resources/{id}/verify. GET /resources says with what outcome: see its state.',
  )
  verifyMany(@CurrentActor() actor: Actor, @Body() dto: BulkResourcesDto): Promise<BulkResultsDto> {
    return this.many.verify(actor, dto);
  }

  @Post('labels')
  @AllowedWhileSuspended()
  @AdminOnly()
  @Operation('Set and remove labels of many resources', { 200: BulkResultsDto })
  labelMany(@CurrentActor() actor: Actor, @Body() dto: BulkLabelsDto): Promise<BulkResultsDto> {
    return this.many.label(actor, dto);
  }

  @Post(':id/verify')
  @AllowedWhileSuspended()
  @AdminOnly()
  @Operation('Verify a resource: read its target with its credential, without changing it', {
    200: ResourceWithWarningsDto,
    errors: [404],
  })
  async verify(@CurrentActor() actor: Actor, @PathId() id: string): Promise<ResourceWithWarningsDto> {
    const { resource, warnings } = await this.resources.verify(actor, id);
    return withWarnings(resource, warnings);
  }

  @Patch(':id')
  @AllowedWhileSuspended()
  @AdminOnly()
  @Operation(
    'Change a resource',
    { 200: ResourceWithWarningsDto, errors: [404], dryRun: 'resource' },
    'Applied rules follow the resource: they are revoked on the old target and applied on the new one. provider and ' +
      'resourceType cannot be changed.',
  )
  async update(
    @CurrentActor() actor: Actor,
    @PathId() id: string,
    @Body() dto: UpdateResourceDto,
  ): Promise<ResourceWithWarningsDto> {
    return withWarnings(await this.editing.update(actor, id, dto));
  }

  @Delete(':id')
  @AdminOnly()
  @Operation(
    'Delete a resource that no session uses',
    { 204: null, errors: [404], dryRun: 'resource' },
    'It is removed from all roles, and its static IP rules are removed from the cloud. A host keeps guarding its ports ' +
      'unless releasePorts is true.',
  )
  delete(
    @CurrentActor() actor: Actor,
    @PathId() id: string,
    @Query() { releasePorts = false }: DeleteResourceQueryDto,
  ): Promise<void> {
    return this.editing.delete(actor, id, releasePorts);
  }

  @Get(':id/rules')
  @AdminOnly({ scope: 'audit:read' })
  @Operation(
    "List the rules on a resource's target now, and who holds each: unmanaged ones last",
    { 200: [ResourceRuleDto], errors: [404] },
    'As they are recorded: the target is read about every 45 seconds, at every change of a rule, and soon after POST ' +
      '/resources/{id}/reconcile. Covers the whole target, also for other resources of the organization. Rules that other ' +
      'organizations hold, unmanaged and left-over ones are listed while a resource of the target is verified.',
  )
  async rules(
    @CurrentPrincipal() principal: Principal,
    @PathId() id: string,
    @Query() query: PageQueryDto,
  ): Promise<ListPage<ResourceRuleDto>> {
    return new ListPage(query, await this.resources.rulesOf(principal, id, query)).map(toResourceRule);
  }

  @Get(':id/guard')
  @AdminOnly({ scope: 'audit:read' })
  @Operation(
    "Get what a resource's host guards, and which connections a guard would cut",
    { 200: ResourceGuardDto, errors: [404] },
    'For resources of the provider AGENT; also before the first verification, from which on the host guards the ' +
      'resource’s ports.',
  )
  async guard(@CurrentPrincipal() principal: Principal, @PathId() id: string): Promise<ResourceGuardDto> {
    return toResourceGuard(await this.hosts.find(principal, id));
  }

  @Post(':id/confirm-guard')
  @AllowedWhileSuspended()
  @AdminOnly()
  @Operation(
    "Confirm that a resource's host guards its ports, and cuts established connections",
    { 200: ResourceDto, errors: [404] },
    'For resources of the provider AGENT. Without it a host waits up to a minute before it guards newly named ports ' +
      'that addresses without access are connected to, and then leaves them open. It applies until the resource names ' +
      'other ports, another protocol or another host. GET /resources/{id}/guard lists the connections.',
  )
  async confirmGuard(@CurrentActor() actor: Actor, @PathId() id: string): Promise<ResourceDto> {
    return toResource(await this.hosts.confirm(actor, id));
  }

  @Post(':id/reconcile')
  @AllowedWhileSuspended()
  @AdminOnly()
  @Operation(
    'Reconcile a resource: compare its target with the desired rules and repair drift',
    { 200: MessageDto, errors: [404] },
    'Runs in the background, as it does automatically every 45 seconds; GET /resource-health/events reports the outcome.',
  )
  async reconcile(@CurrentActor() actor: Actor, @PathId() id: string): Promise<MessageDto> {
    await this.editing.reconcile(actor, id);
    return { message: 'Reconciling: GET /resource-health/events reports the outcome' };
  }

  @Post(':id/abandon')
  @AllowedWhileSuspended()
  @AdminOnly()
  @Operation(
    'Abandon a resource whose target is permanently unreachable',
    { 200: ResourceDto, errors: [404] },
    'For a destroyed host or a closed account: its rules become ABANDONED in the ledger and are no longer retried, its ' +
      'sessions end, its static IP rules are detached, and it can be deleted. If the target answers again, a verification ' +
      'restores the resource, and rules with this service’s mark are removed.',
  )
  async abandon(
    @CurrentActor() actor: Actor,
    @PathId() id: string,
    @Body() { reason }: AbandonResourceDto,
  ): Promise<ResourceDto> {
    return toResource(await this.editing.abandon(actor, id, reason));
  }
}

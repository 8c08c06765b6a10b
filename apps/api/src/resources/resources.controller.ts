import { Body, Controller, Delete, Get, HttpCode, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { AdminOnly, AllowedWhileSuspended, CurrentPrincipal, SignedIn, type Principal } from '#guards';
import type { HostAddress } from '#rules';
import { Answers } from '../docs/answers';
import { CallerAddress } from '../http/caller-address';
import { writePageHeaders } from '../http/page-headers';
import { PathId } from '../http/path-id';
import { MessageDto } from '../http/message.dto';
import {
  AbandonResourceDto,
  CreateResourceDto,
  ResourceDto,
  ResourceListQueryDto,
  UpdateResourceDto,
} from './dto/resource.dto';
import { ResourceEditingService } from './resource-editing.service';
import { toResource } from './resource.mapper';
import { ResourcesService } from './resources.service';

@ApiTags('Resources')
@Controller('resources')
export class ResourcesController {
  constructor(
    private readonly resources: ResourcesService,
    private readonly editing: ResourceEditingService,
  ) {}

  @Get()
  @SignedIn({ scope: 'resources:read' })
  @ApiOperation({ summary: "The organization's resources by name" })
  @Answers({ 200: [ResourceDto], errors: [400, 401, 403] })
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() { page, size }: ResourceListQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ResourceDto[]> {
    const slice = page === undefined && size === undefined ? null : { page: page ?? 0, size: size ?? 100 };
    const { rows, total } = await this.resources.list(principal, slice);
    writePageHeaders(response, slice ?? { page: 0, size: total }, total);
    return rows.map(toResource);
  }

  @Get(':id')
  @SignedIn({ scope: 'resources:read' })
  @ApiOperation({ summary: 'One resource' })
  @Answers({ 200: ResourceDto, errors: [400, 401, 403, 404] })
  async find(@CurrentPrincipal() principal: Principal, @PathId() id: string): Promise<ResourceDto> {
    return toResource(await this.resources.find(principal, id));
  }

  @Post()
  @AdminOnly()
  @ApiOperation({
    summary: 'Name a target whose access rules are to be changed',
    description: 'It is inactive until POST /resources/{id}/verify has read it, or PATCH says isActive.',
  })
  @Answers({ 201: ResourceDto, errors: [400, 401, 403, 404] })
  async create(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @Body() asked: CreateResourceDto,
  ): Promise<ResourceDto> {
    return toResource(await this.resources.create(principal, asked, caller));
  }

  @Post(':id/verify')
  @AllowedWhileSuspended()
  @HttpCode(200)
  @AdminOnly()
  @ApiOperation({ summary: 'Read the target with its credential; changes nothing there' })
  @Answers({ 200: ResourceDto, errors: [400, 401, 403, 404] })
  async verify(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @PathId() id: string,
  ): Promise<ResourceDto> {
    return toResource(await this.resources.verify(principal, id, caller));
  }

  @Patch(':id')
  @AllowedWhileSuspended()
  @AdminOnly()
  @ApiOperation({
    summary: 'Change a resource',
    description:
      'Rules that are applied follow it: revoked where they are, applied where they belong now. provider and ' +
      'resourceType cannot be changed.',
  })
  @Answers({ 200: ResourceDto, errors: [400, 401, 403, 404] })
  async update(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @PathId() id: string,
    @Body() asked: UpdateResourceDto,
  ): Promise<ResourceDto> {
    return toResource(await this.editing.update(principal, id, asked, caller));
  }

  @Delete(':id')
  @HttpCode(204)
  @AdminOnly()
  @ApiOperation({
    summary: 'Delete a resource that no session uses',
    description: 'It leaves all roles. Its static IP rules are taken out of the cloud.',
  })
  @Answers({ 204: null, errors: [400, 401, 403, 404] })
  delete(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @PathId() id: string,
  ): Promise<void> {
    return this.editing.delete(principal, id, caller);
  }

  @Post(':id/reconcile')
  @AllowedWhileSuspended()
  @HttpCode(200)
  @AdminOnly()
  @ApiOperation({
    summary: 'Compare the target with what should stand there, and mend it',
    description:
      'Done in the background, as it is by itself every 45 seconds; GET /resource-health/events tells the outcome.',
  })
  @Answers({ 200: MessageDto, errors: [400, 401, 403, 404] })
  async reconcile(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @PathId() id: string,
  ): Promise<MessageDto> {
    await this.editing.reconcile(principal, id, caller);
    return { message: 'Reconciling: GET /resource-health/events tells the outcome' };
  }

  @Post(':id/abandon')
  @AllowedWhileSuspended()
  @HttpCode(200)
  @AdminOnly()
  @ApiOperation({
    summary: 'Give up a target that will never answer again',
    description:
      'For a destroyed host or a closed account: its rules become ABANDONED in the ledger and are not waited for, its ' +
      'sessions end, its static IP rules leave it, and it can be deleted. Should the target answer again, a verification ' +
      'brings it back, and rules with our mark are removed.',
  })
  @Answers({ 200: ResourceDto, errors: [400, 401, 403, 404] })
  async abandon(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @PathId() id: string,
    @Body() { reason }: AbandonResourceDto,
  ): Promise<ResourceDto> {
    return toResource(await this.editing.abandon(principal, id, reason, caller));
  }
}

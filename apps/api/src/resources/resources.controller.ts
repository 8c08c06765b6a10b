import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { AdminOnly, CurrentPrincipal, SignedIn, type Principal } from '#guards';
import type { HostAddress } from '#rules';
import { Answers } from '../docs/answers';
import { CallerAddress } from '../http/caller-address';
import { PathId } from '../http/path-id';
import { CreateResourceDto, ResourceDto } from './dto/resource.dto';
import { toResource } from './resource.mapper';
import { ResourcesService } from './resources.service';

@ApiTags('Resources')
@Controller('resources')
export class ResourcesController {
  constructor(private readonly resources: ResourcesService) {}

  @Get()
  @SignedIn({ scope: 'resources:read' })
  @ApiOperation({ summary: "The organization's resources by name" })
  @Answers({ 200: [ResourceDto], errors: [401, 403] })
  async list(@CurrentPrincipal() principal: Principal): Promise<ResourceDto[]> {
    return (await this.resources.list(principal)).map(toResource);
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
  @ApiOperation({ summary: 'Name a cloud object whose access rules are to be changed' })
  @Answers({ 201: ResourceDto, errors: [400, 401, 403, 404] })
  async create(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @Body() asked: CreateResourceDto,
  ): Promise<ResourceDto> {
    return toResource(await this.resources.create(principal, asked, caller));
  }

  @Post(':id/verify')
  @HttpCode(200)
  @AdminOnly()
  @ApiOperation({ summary: 'Read the cloud object with its credential; changes nothing there' })
  @Answers({ 200: ResourceDto, errors: [400, 401, 403, 404] })
  async verify(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @PathId() id: string,
  ): Promise<ResourceDto> {
    return toResource(await this.resources.verify(principal, id, caller));
  }
}

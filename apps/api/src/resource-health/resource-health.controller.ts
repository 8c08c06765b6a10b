import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AdminOnly, CurrentPrincipal, type Principal } from '#guards';
import { Operation } from '../docs/operation';
import { pageOf } from '../http/page.dto';
import { HealthEventPageDto, HealthEventQueryDto } from './dto/health-event.dto';
import { ResourceHealthService } from './resource-health.service';

@ApiTags('Resource health')
@AdminOnly()
@Controller('resource-health')
export class ResourceHealthController {
  constructor(private readonly health: ResourceHealthService) {}

  @Get('events')
  @Operation('List the results of verifying and reconciling resources, newest first', {
    200: HealthEventPageDto,
  })
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: HealthEventQueryDto,
  ): Promise<HealthEventPageDto> {
    const { rows, total } = await this.health.list(principal, query);
    return pageOf(rows, total, query);
  }
}

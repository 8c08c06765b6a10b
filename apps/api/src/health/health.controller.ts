import { Controller, Get, HttpStatus, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Public } from '#guards';
import { privateWarnings, type Caller } from '#rules';
import { badRequest } from '../errors';
import { Operation } from '../docs/operation';
import { CurrentCaller, unusableMessage } from '../http/caller-address';
import { CountedOnlyAs, Uncounted } from '../rate-limit/rate-limit.decorators';
import { DetectedAddressDto, HealthDto, ReadinessDto } from './health.dto';
import { Readiness } from './readiness';

@ApiTags('Utility')
@Public()
@Controller()
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  @Get('health')
  @Uncounted()
  @Operation('Liveness of the process', { 200: HealthDto })
  health(): HealthDto {
    return { status: 'UP' };
  }

  @Get('health/ready')
  @Uncounted()
  @Operation(
    'Readiness of the service',
    { 200: ReadinessDto },
    'DEGRADED while the queue is DOWN: rules are still applied and removed, with a delay of about a second. DEGRADED while ' +
      'every worker is AWAY: requests are accepted, and rules are applied and removed when a worker is back. DEGRADED while ' +
      'the database is RESTORED: rules are removed, and applied once an operator confirms.',
  )
  @ApiResponse({
    status: 503,
    type: ReadinessDto,
    description: 'The database is unavailable or accepts no writes, or the process is stopping',
  })
  async ready(@Res({ passthrough: true }) response: Response): Promise<ReadinessDto> {
    const report = await this.readiness.report();
    if (report.status === 'DOWN') response.status(HttpStatus.SERVICE_UNAVAILABLE);
    return report;
  }

  @Get('detect-ip')
  @CountedOnlyAs(['detection'])
  @Operation('Get the caller’s address as the service sees it', { 200: DetectedAddressDto, errors: [400] })
  detect(@CurrentCaller() { address, unusable }: Caller): DetectedAddressDto {
    if (unusable !== null) throw badRequest(unusableMessage(unusable));
    if (!address) throw badRequest('The address of this connection cannot be read');
    return {
      ip: address.text,
      version: address.version === 4 ? 'IPv4' : 'IPv6',
      warnings: privateWarnings(address.text),
    };
  }
}

import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, ApiTags, getSchemaPath } from '@nestjs/swagger';
import type { Response } from 'express';
import { AdminOnly, CurrentPrincipal, type Principal } from '#guards';
import { Operation } from '../docs/operation';
import { accessCsv } from './access-csv';
import { toAccessItem } from './access-item.mapper';
import { AccessReportService } from './access-report.service';
import { AccessItemDto } from './dto/access-item.dto';
import { AccessQueryDto } from './dto/access-query.dto';

@ApiTags('Reports')
@ApiExtraModels(AccessItemDto)
@Controller('reports')
export class ReportsController {
  constructor(private readonly reports: AccessReportService) {}

  @Get('access')
  @AdminOnly({ scope: 'audit:read' })
  @Operation(
    'Report who had access when, newest first',
    {},
    'Give one of resourceId, userId and address, and at or both from and to. Without any: who has access now. Derived from observations: ' +
      'between certainFrom and certainUntil access was observed, between possibleFrom and possibleUntil it was possible. ' +
      'At most 10000 items.',
  )
  @ApiResponse({
    status: 200,
    description: 'The access report as JSON or CSV',
    content: {
      'application/json': { schema: { type: 'array', items: { $ref: getSchemaPath(AccessItemDto) } } },
      'text/csv': { schema: { type: 'string' }, example: accessCsv([]) },
    },
  })
  async access(
    @CurrentPrincipal() principal: Principal,
    @Query() query: AccessQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AccessItemDto[] | string> {
    const items = (await this.reports.report(principal, query)).map(toAccessItem);
    if (query.format === 'json') return items;
    response.type('text/csv');
    response.attachment('access.csv');
    return accessCsv(items);
  }
}

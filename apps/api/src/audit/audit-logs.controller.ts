import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { AuditRecordRow } from '#tenant-store';
import { CurrentPrincipal, SignedIn, type Principal } from '#guards';
import { Answers } from '../docs/answers';
import { pageOf } from '../http/page.dto';
import { AuditLogsService } from './audit-logs.service';
import { AuditQueryDto } from './dto/audit-query.dto';
import { AuditPageDto, type AuditRecordDto } from './dto/audit-record.dto';

@ApiTags('Audit logs')
@Controller('audit-logs')
export class AuditLogsController {
  constructor(private readonly logs: AuditLogsService) {}

  @Get()
  @SignedIn({ scope: 'audit:read' })
  @ApiOperation({
    summary: 'What was done in the organization, newest first',
    description:
      'Administrators see all of it; other users what they did and what was done to them. A key shows all of it and ' +
      'must be a key of an administrator.',
  })
  @Answers({ 200: AuditPageDto, errors: [400, 401, 403] })
  async list(@CurrentPrincipal() principal: Principal, @Query() query: AuditQueryDto): Promise<AuditPageDto> {
    const { rows, total } = await this.logs.list(principal, query);
    return pageOf(rows.map(toAuditRecord), total, query);
  }
}

const toAuditRecord = (row: AuditRecordRow): AuditRecordDto => ({
  ...row,
  timestamp: row.timestamp.toISOString(),
});

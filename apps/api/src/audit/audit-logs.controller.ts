import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal, SignedIn, type Principal } from '#guards';
import { Operation } from '../docs/operation';
import { pageOf } from '../http/page.dto';
import { AuditLogsService } from './audit-logs.service';
import { AuditQueryDto } from './dto/audit-query.dto';
import { AuditPageDto } from './dto/audit-record.dto';

@ApiTags('Audit logs')
@Controller('audit-logs')
export class AuditLogsController {
  constructor(private readonly logs: AuditLogsService) {}

  @Get()
  @SignedIn({ scope: 'audit:read' })
  @Operation(
    "List the organization's audit records, newest first",
    { 200: AuditPageDto },
    'Administrators see all records; other users see their own actions and actions on their account. An API key must ' +
      'belong to an administrator and sees all records.',
  )
  async list(@CurrentPrincipal() principal: Principal, @Query() query: AuditQueryDto): Promise<AuditPageDto> {
    const { rows, total } = await this.logs.list(principal, query);
    return pageOf(rows, total, query);
  }
}

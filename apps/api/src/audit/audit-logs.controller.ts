import { pipeline } from 'node:stream/promises';
import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { AdminOnly, CurrentPrincipal, SignedIn, type Principal } from '#guards';
import { Operation } from '../docs/operation';
import { pageOf } from '../http/page.dto';
import { AuditExportService } from './audit-export.service';
import { AuditLogsService } from './audit-logs.service';
import { AuditExportQueryDto } from './dto/audit-export-query.dto';
import { AuditQueryDto } from './dto/audit-query.dto';
import { AuditPageDto } from './dto/audit-record.dto';
import { EXPORT_FORMATS } from './export-format';

/** A reader that takes nothing for this time, or twice as long, is gone. */
const STALLED_MS = 10_000;
const EXPORTED = Object.values(EXPORT_FORMATS).map(
  ({ type }) => [type, { schema: { type: 'string' } }] as const,
);

@ApiTags('Audit logs')
@Controller('audit-logs')
export class AuditLogsController {
  constructor(
    private readonly logs: AuditLogsService,
    private readonly exports: AuditExportService,
  ) {}

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

  @Get('export')
  @AdminOnly({ scope: 'audit:read' })
  @Operation(
    'Export the sealed audit records, oldest first',
    {},
    'A stream in the order of sealing. A record is sealed seconds after its action; until then it is left out. The last line is ' +
      '`end`, with the position up to which the trail was read: an answer without it is not complete, and `after` continues ' +
      'from the last position it has. One export of an organization at a time, for at most 15 minutes.',
  )
  @ApiResponse({
    status: 200,
    description: 'The records, one in a line, and the end',
    content: Object.fromEntries(EXPORTED),
  })
  async export(
    @CurrentPrincipal() { organizationId }: Principal,
    @Query() query: AuditExportQueryDto,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await this.exports.export(organizationId, query, async (parts, signal) => {
      response.attachment(`audit.${query.format}`);
      response.type(EXPORT_FORMATS[query.format].type);
      if (request.method === 'HEAD') response.end();
      else await pipeline(whileRead(parts, response), response, { signal }).catch(unlessEnded);
    });
  }
}

/** Closes the connection when nothing is taken between two parts. */
async function* whileRead(parts: AsyncIterable<string>, response: Response): AsyncGenerator<string> {
  for await (const part of parts) {
    response.setTimeout(STALLED_MS);
    yield part;
  }
}

/** The connection is closed then: a reader that is gone, or too slow, is no failure. */
function unlessEnded(error: NodeJS.ErrnoException): void {
  if (error.name !== 'AbortError' && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
}

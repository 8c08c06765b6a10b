import { Module } from '@nestjs/common';
import { AuditExportService } from './audit-export.service';
import { AuditLogsController } from './audit-logs.controller';
import { AuditLogsService } from './audit-logs.service';

@Module({
  controllers: [AuditLogsController],
  providers: [AuditLogsService, AuditExportService],
})
export class AuditModule {}

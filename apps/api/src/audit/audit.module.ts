import { Module } from '@nestjs/common';
import { AuditLogsController } from './audit-logs.controller';
import { AuditLogsService } from './audit-logs.service';

@Module({ controllers: [AuditLogsController], providers: [AuditLogsService] })
export class AuditModule {}

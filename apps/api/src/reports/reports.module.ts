import { Module } from '@nestjs/common';
import { LedgerQueries } from '#engine-store/port';
import { AccessReportService } from './access-report.service';
import { ReportsController } from './reports.controller';

@Module({ controllers: [ReportsController], providers: [AccessReportService, LedgerQueries] })
export class ReportsModule {}

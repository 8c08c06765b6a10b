import { Module } from '@nestjs/common';
import { HealthController } from './health.controller';
import { Readiness } from './readiness';
import { RequestMetrics } from './request-metrics';

@Module({ controllers: [HealthController], providers: [Readiness, RequestMetrics] })
export class HealthModule {}

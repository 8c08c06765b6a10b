import { Module } from '@nestjs/common';
import { ResourceHealthController } from './resource-health.controller';
import { ResourceHealthService } from './resource-health.service';

@Module({ controllers: [ResourceHealthController], providers: [ResourceHealthService] })
export class ResourceHealthModule {}

import { Module } from '@nestjs/common';
import { ResourceHealthStore } from '#tenant-store';
import { ResourceHealthController } from './resource-health.controller';
import { ResourceHealthService } from './resource-health.service';

@Module({ controllers: [ResourceHealthController], providers: [ResourceHealthService, ResourceHealthStore] })
export class ResourceHealthModule {}

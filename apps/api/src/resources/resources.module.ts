import { Module } from '@nestjs/common';
import { BulkResources } from './bulk-resources';
import { HostGuardService } from './host-guard.service';
import { HostReleases } from './host-releases';
import { ResourceEditingService } from './resource-editing.service';
import { ResourceVerifier } from './resource-verifier';
import { ResourceTypesController } from './resource-types.controller';
import { RightsController } from './rights.controller';
import { ResourcesController } from './resources.controller';
import { ResourcesService } from './resources.service';

@Module({
  // order matters: /resources/types must match before /resources/:id
  controllers: [ResourceTypesController, ResourcesController, RightsController],
  providers: [
    ResourcesService,
    BulkResources,
    ResourceEditingService,
    ResourceVerifier,
    HostGuardService,
    HostReleases,
  ],
  exports: [ResourcesService],
})
export class ResourcesModule {}

import { Module } from '@nestjs/common';
import { AgentStore } from '#engine-store/port';
import { ResourceRulesStore, ResourceStore } from '#tenant-store';
import { CredentialsModule } from '../credentials/credentials.module';
import { ResourceEditingService } from './resource-editing.service';
import { ResourceVerifier } from './resource-verifier';
import { ResourceTypesController } from './resource-types.controller';
import { ResourcesController } from './resources.controller';
import { ResourcesService } from './resources.service';

@Module({
  imports: [CredentialsModule],
  // order matters: /resources/types must match before /resources/:id
  controllers: [ResourceTypesController, ResourcesController],
  providers: [
    ResourcesService,
    ResourceEditingService,
    ResourceVerifier,
    AgentStore,
    ResourceStore,
    ResourceRulesStore,
  ],
  exports: [ResourcesService, ResourceStore],
})
export class ResourcesModule {}

import { Module } from '@nestjs/common';
import { AgentStore, ResourceRulesStore, ResourceStore } from '#entities';
import { CredentialsModule } from '../credentials/credentials.module';
import { ResourceEditingService } from './resource-editing.service';
import { ResourceVerifier } from './resource-verifier';
import { ResourcesController } from './resources.controller';
import { ResourcesService } from './resources.service';

@Module({
  imports: [CredentialsModule],
  controllers: [ResourcesController],
  providers: [
    ResourcesService,
    ResourceEditingService,
    ResourceVerifier,
    AgentStore,
    ResourceStore,
    ResourceRulesStore,
  ],
  exports: [ResourceStore],
})
export class ResourcesModule {}

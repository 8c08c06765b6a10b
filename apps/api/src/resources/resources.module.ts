import { Module } from '@nestjs/common';
import { ResourceStore } from '#entities';
import { CredentialsModule } from '../credentials/credentials.module';
import { ResourceVerifier } from './resource-verifier';
import { ResourcesController } from './resources.controller';
import { ResourcesService } from './resources.service';

@Module({
  imports: [CredentialsModule],
  controllers: [ResourcesController],
  providers: [ResourcesService, ResourceVerifier, ResourceStore],
})
export class ResourcesModule {}

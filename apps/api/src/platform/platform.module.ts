import { Module } from '@nestjs/common';
import { BacklogStore } from '#engine-store/port';
import { PlatformStore } from '#tenant-store';
import { OrganizationModule } from '../organization/organization.module';
import { PlatformController } from './platform.controller';
import { PlatformService } from './platform.service';

@Module({
  imports: [OrganizationModule],
  controllers: [PlatformController],
  providers: [PlatformService, PlatformStore, BacklogStore],
})
export class PlatformModule {}

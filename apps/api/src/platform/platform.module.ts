import { Module } from '@nestjs/common';
import { OrganizationModule } from '../organization/organization.module';
import { PlatformController } from './platform.controller';
import { PlatformService } from './platform.service';

@Module({
  imports: [OrganizationModule],
  controllers: [PlatformController],
  providers: [PlatformService],
})
export class PlatformModule {}

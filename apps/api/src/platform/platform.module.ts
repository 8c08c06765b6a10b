import { Module } from '@nestjs/common';
import { BacklogStore } from '#engine-store/port';
import { PlatformStore } from '#tenant-store';
import { PlatformController } from './platform.controller';
import { PlatformService } from './platform.service';

@Module({ controllers: [PlatformController], providers: [PlatformService, PlatformStore, BacklogStore] })
export class PlatformModule {}

import { Module } from '@nestjs/common';
import { PlatformStore } from '#tenant-store';
import { PlatformController } from './platform.controller';
import { PlatformService } from './platform.service';

@Module({ controllers: [PlatformController], providers: [PlatformService, PlatformStore] })
export class PlatformModule {}

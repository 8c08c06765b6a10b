import { Module } from '@nestjs/common';
import { ApiKeyStore } from '#tenant-store';
import { ApiKeysController } from './api-keys.controller';
import { ApiKeysService } from './api-keys.service';

@Module({ controllers: [ApiKeysController], providers: [ApiKeysService, ApiKeyStore] })
export class ApiKeysModule {}

import { Module } from '@nestjs/common';
import { AttentionStore } from '#tenant-store';
import { AttentionController } from './attention.controller';
import { AttentionService } from './attention.service';

@Module({ controllers: [AttentionController], providers: [AttentionService, AttentionStore] })
export class AttentionModule {}

import { Module } from '@nestjs/common';
import { DownloadsController } from './downloads.controller';
import { Downloads } from './downloads';

@Module({ controllers: [DownloadsController], providers: [Downloads] })
export class DownloadsModule {}

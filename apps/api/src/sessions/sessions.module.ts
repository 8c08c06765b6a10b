import { Module } from '@nestjs/common';
import { SessionStore } from '#entities';
import { SessionsController } from './sessions.controller';
import { SessionsService } from './sessions.service';

@Module({ controllers: [SessionsController], providers: [SessionsService, SessionStore] })
export class SessionsModule {}

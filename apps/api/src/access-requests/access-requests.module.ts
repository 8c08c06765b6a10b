import { Module } from '@nestjs/common';
import { SessionsModule } from '../sessions/sessions.module';
import { AccessRequestWaiter } from '../sessions/settlement-waiter';
import { AccessRequestsController } from './access-requests.controller';
import { AccessRequestsService } from './access-requests.service';

@Module({
  imports: [SessionsModule],
  controllers: [AccessRequestsController],
  providers: [AccessRequestsService, AccessRequestWaiter],
})
export class AccessRequestsModule {}

import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module';
import { LockdownModule } from '../lockdown/lockdown.module';
import { BulkUsers } from './bulk-users';
import { NewUsers } from './new-users';
import { OwnNotices } from './own-notices';
import { OwnNoticesController } from './own-notices.controller';
import { PasswordLinks } from './password-links';
import { ServiceUsers } from './service-users';
import { UsersController } from './users.controller';
import { UsersService } from './users.service';

@Module({
  imports: [AuthModule, LockdownModule],
  controllers: [OwnNoticesController, UsersController],
  providers: [UsersService, OwnNotices, BulkUsers, NewUsers, PasswordLinks, ServiceUsers],
  exports: [ServiceUsers],
})
export class UsersModule {}

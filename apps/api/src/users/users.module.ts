import { Module } from '@nestjs/common';
import { DepartureStore, UserStore } from '#tenant-store';
import { AuthModule } from '../auth/auth.module';
import { Departures } from './departures';
import { NewUsers } from './new-users';
import { ServiceUsers } from './service-users';
import { UsersController } from './users.controller';
import { UsersService } from './users.service';

@Module({
  imports: [AuthModule],
  controllers: [UsersController],
  providers: [UsersService, NewUsers, ServiceUsers, Departures, UserStore, DepartureStore],
})
export class UsersModule {}

import { Module } from '@nestjs/common';
import { DepartureStore, UserStore } from '#entities';
import { AuthModule } from '../auth/auth.module';
import { Departures } from './departures';
import { NewUsers } from './new-users';
import { UsersController } from './users.controller';
import { UsersService } from './users.service';

@Module({
  imports: [AuthModule],
  controllers: [UsersController],
  providers: [UsersService, NewUsers, Departures, UserStore, DepartureStore],
})
export class UsersModule {}
